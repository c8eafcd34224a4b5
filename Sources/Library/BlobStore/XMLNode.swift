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

    /// The first child with that name.
    subscript(_ name: String) -> XMLNode? { children.first { $0.name == name } }

    /// Returns the text of the first child with that name.
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
