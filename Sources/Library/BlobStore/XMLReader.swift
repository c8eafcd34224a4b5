/// Parses a document from beginning to end, with the open elements on an explicit stack.
struct XMLReader {
    private let bytes: [UInt8]
    private var index = 0
    private var open: [XMLNode] = []
    private var elements = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
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
        guard open.isEmpty, let root else { throw malformed("the end inside an element") }
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
        } else if skip("<!") {
            throw malformed("a document type")
        } else if skip("</") {
            let name = trimmed(try upTo(">"))
            guard let node = open.popLast(), node.name == name else {
                throw malformed("the end of \"\(name.prefix(40))\"")
            }
            return close(node)
        } else {
            index += 1
            return try start()
        }
        return nil
    }

    private mutating func start() throws(XMLNode.Malformed) -> XMLNode? {
        let begin = index
        var quote: UInt8?
        while index < bytes.count, quote != nil || bytes[index] != UInt8(ascii: ">") {
            let byte = bytes[index]
            if quote == byte {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            index += 1
        }
        guard index < bytes.count else { throw malformed("the end inside a tag") }
        var tag = bytes[begin..<index]
        index += 1
        let isEmpty = tag.last == UInt8(ascii: "/")
        if isEmpty { tag = tag.dropLast() }
        let name = String(
            decoding: tag.prefix { !Self.isSpace($0) }, as: UTF8.self)
        guard !name.isEmpty else { throw malformed("a tag without a name") }
        elements += 1
        guard elements <= XMLNode.elementsMax, open.count < XMLNode.depthMax else {
            throw malformed("too many elements")
        }
        if isEmpty { return close(XMLNode(name: name)) }
        open.append(XMLNode(name: name))
        return nil
    }

    private mutating func close(_ node: XMLNode) -> XMLNode? {
        guard !open.isEmpty else { return node }
        open[open.count - 1].children.append(node)
        return nil
    }

    private mutating func text() throws(XMLNode.Malformed) {
        var decoded: [UInt8] = []
        while index < bytes.count, bytes[index] != UInt8(ascii: "<") {
            if bytes[index] == UInt8(ascii: "&") {
                index += 1
                decoded += try entity(upTo(";"))
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

    private func entity(_ name: ArraySlice<UInt8>) throws(XMLNode.Malformed) -> [UInt8] {
        let name = String(decoding: name.prefix(12), as: UTF8.self)
        let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        if let text = known[name] { return Array(text.utf8) }
        let number =
            name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
        guard name.hasPrefix("#"), let number, let scalar = Unicode.Scalar(number) else {
            throw malformed("the entity \"\(name)\"")
        }
        return Array(String(scalar).utf8)
    }

    private mutating func skip(_ mark: StaticString) -> Bool {
        let mark = mark.withUTF8Buffer { Array($0) }
        guard bytes[index...].starts(with: mark) else { return false }
        index += mark.count
        return true
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

    private func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix { !Self.isSpace($0) }, as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }

    private func malformed(_ what: String) -> XMLNode.Malformed {
        XMLNode.Malformed(reason: "\(what) at byte \(index)")
    }
}

/// An element of a store's answer: its name, its own text and its child elements.
///
/// It supports the small part of XML that S3 documents use: elements, text, CDATA, comments, the
/// five entities and numeric character references. Attributes are ignored. A document type is
/// rejected, and with it every entity that could expand. Source: XML 1.0, 5th edition.
struct XMLNode: Sendable, Hashable {
    /// The most bytes of a document: 1,000 listed keys of 1,024 bytes, each byte as `%XX`, with a
    /// margin.
    static let bytesMax = 8 << 20

    /// The deepest nesting of elements; S3 uses four levels.
    static let depthMax = 16

    /// The most elements of a document: 1,000 listed objects have ten each.
    static let elementsMax = 50_000

    let name: String
    var text = ""
    var children: [XMLNode] = []

    subscript(_ name: String) -> XMLNode? { children.first { $0.name == name } }

    func text(of name: String) -> String? { self[name]?.text }

    /// The reason why a document is malformed.
    struct Malformed: Error, Hashable {
        /// The fault and its byte offset.
        let reason: String
    }

    /// Parses a document and returns its root element. Throws if the document is malformed or too
    /// large.
    init(document: [UInt8]) throws(Malformed) {
        guard document.count <= Self.bytesMax else {
            throw Malformed(reason: "it has more than \(Self.bytesMax) bytes")
        }
        var reader = XMLReader(document)
        self = try reader.root()
    }

    init(name: String) {
        self.name = name
    }
}
