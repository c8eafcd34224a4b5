/// An element of an untrusted XML document: its name, its own text and its child elements.
///
/// It supports the part of XML that data use: elements, text, CDATA, comments, instructions, the five entities and numeric
/// character references. Attributes are read over. A document type with declarations is refused, and with it every entity that
/// could expand. Source: XML 1.0, 5th edition.
package struct XMLNode: Sendable, Hashable {
    /// The most bytes of a document: 1,000 listed keys of 1,024 bytes, each byte as `%XX`, with a
    /// margin.
    package static let bytesMax = 8 << 20
    /// The deepest nesting of elements by default; S3 uses four levels.
    package static let depthMax = 16
    /// The most elements of a document by default: 1,000 objects that S3 lists have ten each.
    package static let elementsMax = 50_000

    package let name: String
    package var text = ""
    package var children: [XMLNode] = []
    /// The position after its last byte.
    package var end = 0

    package subscript(_ name: String) -> XMLNode? { children.first { $0.name == name } }

    /// Returns the text of the first child with that name.
    package func text(of name: String) -> String? { self[name]?.text }

    /// The reason why a document is malformed: a phrase for after "it has", with the byte offset.
    package struct Malformed: Error, Hashable {
        package let reason: String
    }

    /// Parses a document of UTF-8 and returns its root element.
    ///
    /// - Parameter hasDocumentType: whether a document type that declares nothing is read over.
    package init(
        document: [UInt8], depthMax: Int = depthMax, elementsMax: Int = elementsMax,
        hasDocumentType: Bool = false
    ) throws(Malformed) {
        guard document.count <= Self.bytesMax else {
            throw Malformed(reason: "more than \(Self.bytesMax) bytes")
        }
        var reader = XMLReader(
            bytes: document, depthMax: depthMax, elementsMax: elementsMax,
            hasDocumentType: hasDocumentType)
        self = try reader.root()
    }

    fileprivate init(name: String) { self.name = name }
}

/// Parses a document from beginning to end, with the open elements on an explicit stack.
private struct XMLReader {
    let bytes: [UInt8]
    let depthMax, elementsMax: Int
    let hasDocumentType: Bool
    private var index = 0
    private var open: [XMLNode] = []
    private var elements = 0

    init(bytes: [UInt8], depthMax: Int, elementsMax: Int, hasDocumentType: Bool) {
        (self.bytes, self.hasDocumentType) = (bytes, hasDocumentType)
        (self.depthMax, self.elementsMax) = (depthMax, elementsMax)
    }

    mutating func root() throws(XMLNode.Malformed) -> XMLNode {
        var root: XMLNode?
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else {
                try text()
                continue
            }
            guard let closed = try markup() else { continue }
            guard root == nil else { throw malformed("a second root element") }
            root = closed
        }
        guard open.isEmpty, let root else { throw malformed("an end inside an element") }
        return root
    }

    /// Parses one `<…>` and returns the root if it ended there.
    private mutating func markup() throws(XMLNode.Malformed) -> XMLNode? {
        if skip("<?") {
            _ = try upTo("?>")
        } else if skip("<!--") {
            _ = try upTo("-->")
        } else if skip("<![CDATA[") {
            try append(Array(try upTo("]]>")))
        } else if hasDocumentType, elements == 0, skip("<!DOCTYPE") {
            try documentType()
        } else if skip("<!") {
            throw malformed("a document type where none may be")
        } else if skip("</") {
            let name = name()
            skipSpace()
            guard let node = open.popLast(), node.name == name, skip(">") else {
                throw malformed(
                    "an end tag </\(name.prefix(40)) that does not close the open element")
            }
            return close(node)
        } else {
            index += 1
            return try start()
        }
        return nil
    }

    /// Skips a document type, which may only refer to another document.
    private mutating func documentType() throws(XMLNode.Malformed) {
        var quote: UInt8?
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { quote = byte } else if quote == byte { quote = nil }
            case UInt8(ascii: ">") where quote == nil: return
            case UInt8(ascii: "["), UInt8(ascii: "<"):
                throw malformed("a document type with declarations, which are refused")
            default: break
            }
        }
        throw malformed("a document type without an end")
    }

    private mutating func start() throws(XMLNode.Malformed) -> XMLNode? {
        let name = name()
        guard !name.isEmpty else { throw malformed("a tag without a name") }
        elements += 1
        guard elements <= elementsMax, open.count < depthMax else {
            throw malformed("too many elements, or some nested deeper than \(depthMax)")
        }
        while true {
            skipSpace()
            if skip("/>") { return close(XMLNode(name: name)) }
            if skip(">") {
                open.append(XMLNode(name: name))
                return nil
            }
            try skipAttribute(of: name)
        }
    }

    private mutating func skipAttribute(of element: String) throws(XMLNode.Malformed) {
        let name = name()
        skipSpace()
        let hasValue = skip("=")
        skipSpace()
        let value: ArraySlice<UInt8>
        if skip("\"") {
            value = try upTo("\"")
        } else if skip("'") {
            value = try upTo("'")
        } else {
            throw malformed("a tag <\(element.prefix(40)) that is not closed by >")
        }
        guard !name.isEmpty, hasValue, !value.contains(UInt8(ascii: "<")) else {
            throw malformed("an attribute of <\(element.prefix(40)) without an end")
        }
    }

    private mutating func close(_ node: XMLNode) -> XMLNode? {
        var node = node
        node.end = index
        guard !open.isEmpty else { return node }
        open[open.count - 1].children.append(node)
        return nil
    }

    private mutating func text() throws(XMLNode.Malformed) {
        var decoded: [UInt8] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: "<") {
            if bytes[index] == UInt8(ascii: "&") {
                decoded += try reference().utf8
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        try append(decoded)
    }

    private mutating func append(_ bytes: [UInt8]) throws(XMLNode.Malformed) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw malformed("text that is no UTF-8")
        }
        guard !open.isEmpty else {
            // A byte order mark and white space are allowed around the root.
            let isBlank = text.unicodeScalars.allSatisfy {
                "\u{FEFF} \t\r\n".unicodeScalars.contains($0)
            }
            guard isBlank else { throw malformed("text outside the root element") }
            return
        }
        open[open.count - 1].text += text
    }

    /// The most bytes of a reference's name: `#x10FFFF`, and a margin.
    private static let referenceMax = 12

    /// Reads a reference: one of XML's five entities, or the number of a character.
    private mutating func reference() throws(XMLNode.Malformed) -> String {
        let inside = bytes[(index + 1)...].prefix(Self.referenceMax)
        guard let end = inside.firstIndex(of: UInt8(ascii: ";")) else {
            throw malformed("a & that begins a reference without an end")
        }
        let name = String(decoding: inside[..<end], as: UTF8.self)
        let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        guard let text = known[name] ?? Self.character(name).map(String.init) else {
            throw malformed(
                "a reference &\(name); that is none of XML's five entities and no character")
        }
        index = end + 1
        return text
    }

    /// Returns the character of `#225` or `#xe1`.
    private static func character(_ name: String) -> Unicode.Scalar? {
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard name.hasPrefix("#"), digits.first?.isHexDigit == true else { return nil }
        return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
    }

    private mutating func skip(_ mark: StaticString) -> Bool {
        guard mark.withUTF8Buffer({ bytes[index...].starts(with: $0) }) else { return false }
        index += mark.utf8CodeUnitCount
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
    }

    /// Reads a name, up to a space or a mark.
    private mutating func name() -> String {
        let name = bytes[index...].prefix { !Self.isSpace($0) && !"<>=/'\"".utf8.contains($0) }
        index += name.count
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func upTo(
        _ mark: StaticString
    ) throws(XMLNode.Malformed) -> ArraySlice<UInt8> {
        let mark = mark.withUTF8Buffer { Array($0) }
        let begin = index
        while index + mark.count <= bytes.count {
            if bytes[index] == mark[0], bytes[index...].starts(with: mark) {
                defer { index += mark.count }
                return bytes[begin..<index]
            }
            index += 1
        }
        throw malformed("no \"\(String(decoding: mark, as: UTF8.self))\"")
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private func malformed(_ what: String) -> XMLNode.Malformed {
        XMLNode.Malformed(reason: "\(what) at byte \(index)")
    }
}
