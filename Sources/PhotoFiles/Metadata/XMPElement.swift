/// An element of a packet, with the places of its parts in the packet's bytes.
///
/// Source: XML 1.0. The bytes are untrusted: whatever is not well-formed, too deep or too long is no element.
struct XMPElement {
    let name: String
    /// The attributes of its start tag, name spaces included.
    let attributes: [Attribute]
    /// The elements within it, in their order.
    let children: [XMPElement]
    let whole: Range<Int>
    /// The offset in its start tag at which an attribute can be inserted.
    let tagEnd: Int
    /// The bytes between its tags; empty for an empty-element tag.
    let content: Range<Int>
    /// The nodes directly in it beside text and elements, in their order.
    let asides: [Aside]

    /// A comment, an instruction, or a part whose text is written as it is (`<![CDATA[…]]>`).
    struct Aside {
        let whole: Range<Int>
        /// The bytes of such a text; nil for a comment or an instruction.
        let text: Range<Int>?
    }

    /// Whether it is written as one tag.
    var isEmptyTag: Bool { content.upperBound == whole.upperBound }

    struct Attribute {
        let name: String
        /// The bytes between its quotes.
        let value: Range<Int>
        /// With the white space before it.
        let whole: Range<Int>
    }

    /// The deepest nesting that is read; regions of faces have 12.
    private static let depthMax = 32
    /// The most elements that are read; a packet of 4 MB with the history of a hundred edits has some 20,000.
    fileprivate static let countMax = 100_000

    /// Reads the first element in a range; nil if there is none.
    init?(_ bytes: [UInt8], in range: Range<Int>) {
        var reader = Reader(bytes: bytes, offset: range.lowerBound, end: range.upperBound)
        var before: [Aside] = []
        guard let element = reader.next(depth: Self.depthMax, &before) else { return nil }
        self = element
    }

    fileprivate init(
        _ name: String, _ attributes: [Attribute], _ children: [XMPElement], _ whole: Range<Int>,
        _ tagEnd: Int, _ content: Range<Int>, _ asides: [Aside] = []
    ) {
        (self.name, self.attributes, self.children) = (name, attributes, children)
        (self.whole, self.tagEnd, self.content) = (whole, tagEnd, content)
        self.asides = asides
    }

    /// Returns the text that readers see directly in it: without its elements and comments, with references resolved.
    func text(_ bytes: [UInt8]) -> String {
        var text = ""
        var offset = content.lowerBound
        let parts = children.map { Aside(whole: $0.whole, text: nil) } + asides
        for part in parts.sorted(by: { $0.whole.lowerBound < $1.whole.lowerBound }) {
            text += XMPText.resolved(bytes[offset..<part.whole.lowerBound])
            if let written = part.text { text += String(decoding: bytes[written], as: UTF8.self) }
            offset = part.whole.upperBound
        }
        return text + XMPText.resolved(bytes[offset..<content.upperBound])
    }
}

extension XMPElement {
    /// A property of a structure.
    struct Field {
        /// The bytes of its value.
        let value: Range<Int>
        /// The bytes that state it.
        let whole: Range<Int>
        /// The element; nil for an attribute.
        let element: XMPElement?
    }

    /// Returns the property of a structure: an attribute or an element, of the element itself or of an `rdf:Description` within it.
    func field(_ name: String, _ names: XMPNames) -> Field? {
        let written = names.written(name)
        if let attribute = attributes.first(where: { written.contains($0.name) }) {
            return Field(value: attribute.value, whole: attribute.whole, element: nil)
        }
        if let element = children.first(where: { written.contains($0.name) }) {
            return Field(value: element.content, whole: element.whole, element: element)
        }
        let descriptions = names.written("rdf:Description")
        for child in children where descriptions.contains(child.name) {
            if let field = child.field(name, names) { return field }
        }
        return nil
    }

    func items(_ names: XMPNames) -> [XMPElement] {
        let lists = ["rdf:Bag", "rdf:Seq", "rdf:Alt"].flatMap(names.written)
        let item = names.written("rdf:li")
        return children.filter { lists.contains($0.name) }.flatMap(\.children)
            .filter { item.contains($0.name) }
    }
}

/// A reader of elements from an offset on.
private struct Reader {
    let bytes: [UInt8]
    var offset: Int
    let end: Int
    private var count = 0
    /// Whether an element is not well-formed, and so none around it is.
    private var isBroken = false

    init(bytes: [UInt8], offset: Int, end: Int) {
        (self.bytes, self.offset, self.end) = (bytes, offset, end)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private func has(_ text: StaticString, at offset: Int) -> Bool {
        offset + text.utf8CodeUnitCount <= end
            && (0..<text.utf8CodeUnitCount).allSatisfy { bytes[offset + $0] == text.utf8Start[$0] }
    }

    /// Reads past a text, from behind the first bytes of something that it ends. Returns both ends of it.
    private mutating func skip(_ first: Int, past text: StaticString) -> Range<Int>? {
        let start = offset
        offset += first
        while offset < end {
            if has(text, at: offset) {
                offset += text.utf8CodeUnitCount
                return start..<offset
            }
            offset += 1
        }
        return nil
    }

    private mutating func skipSpace() {
        while offset < end, Self.isSpace(bytes[offset]) { offset += 1 }
    }

    /// Reads the next element, past text, comments and instructions; nil at an end tag, at the end, and at a fault.
    ///
    /// - Parameter asides: what was read past is added.
    mutating func next(depth: Int, _ asides: inout [XMPElement.Aside]) -> XMPElement? {
        while let start = bytes[offset..<end].firstIndex(of: UInt8(ascii: "<")) {
            offset = start
            if has("</", at: start) {
                return nil
            } else if has("<!--", at: start) {
                guard let whole = skip(4, past: "-->") else { return nil }
                asides.append(XMPElement.Aside(whole: whole, text: nil))
            } else if has("<![CDATA[", at: start) {
                guard let whole = skip(9, past: "]]>") else { return nil }
                let text = whole.lowerBound + 9..<whole.upperBound - 3
                asides.append(XMPElement.Aside(whole: whole, text: text))
            } else if has("<?", at: start) {
                guard let whole = skip(2, past: "?>") else { return nil }
                asides.append(XMPElement.Aside(whole: whole, text: nil))
            } else {
                let element = element(depth: depth)
                isBroken = element == nil
                return element
            }
        }
        return nil
    }

    private mutating func name() -> String? {
        let start = offset
        while offset < end, !Self.isSpace(bytes[offset]), !"<>/='\"".utf8.contains(bytes[offset]) {
            offset += 1
        }
        return start < offset ? String(decoding: bytes[start..<offset], as: UTF8.self) : nil
    }

    private mutating func element(depth: Int) -> XMPElement? {
        let start = offset
        count += 1
        guard depth > 0, count <= XMPElement.countMax else { return nil }
        offset += 1
        guard let name = name() else { return nil }
        var attributes: [XMPElement.Attribute] = []
        while true {
            let before = offset
            skipSpace()
            guard offset < end else { return nil }
            if has("/>", at: offset) {
                offset += 2
                return XMPElement(name, attributes, [], start..<offset, before, offset..<offset)
            }
            if bytes[offset] == UInt8(ascii: ">") {
                offset += 1
                return rest(of: name, attributes, from: start, tagEnd: before, depth)
            }
            guard let attribute = attribute(from: before) else { return nil }
            attributes.append(attribute)
        }
    }

    private mutating func attribute(from start: Int) -> XMPElement.Attribute? {
        guard let name = name() else { return nil }
        skipSpace()
        guard has("=", at: offset) else { return nil }
        offset += 1
        skipSpace()
        guard offset < end, "'\"".utf8.contains(bytes[offset]),
            let close = bytes[(offset + 1)..<end].firstIndex(of: bytes[offset])
        else { return nil }
        let value = offset + 1..<close
        offset = close + 1
        return XMPElement.Attribute(name: name, value: value, whole: start..<offset)
    }

    private mutating func rest(
        of name: String, _ attributes: [XMPElement.Attribute], from start: Int, tagEnd: Int,
        _ depth: Int
    ) -> XMPElement? {
        let content = offset
        var children: [XMPElement] = []
        var asides: [XMPElement.Aside] = []
        while let child = next(depth: depth - 1, &asides) { children.append(child) }
        guard !isBroken, has("</", at: offset) else { return nil }
        let contentEnd = offset
        offset += 2
        guard self.name() == name else { return nil }
        skipSpace()
        guard has(">", at: offset) else { return nil }
        offset += 1
        return XMPElement(
            name, attributes, children, start..<offset, tagEnd, content..<contentEnd, asides)
    }
}
