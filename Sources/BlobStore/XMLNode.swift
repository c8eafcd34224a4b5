/// An element of a store's answer: its name, its own text and the elements in it.
///
/// Reads the small part of XML that S3 documents are written in: elements, text, CDATA, comments,
/// the five entities and numbers for characters. Attributes are passed over. A document type is
/// refused, and with it every entity that could grow. Source: XML 1.0, 5th edition.
struct XMLNode: Sendable, Hashable {
    /// The most bytes of a document: 1,000 listed keys of 1,024 bytes, each byte as `%XX`, and room.
    static let bytesMax = 8 << 20

    /// The most elements in one another; S3 has four.
    static let depthMax = 16

    /// The most elements of a document: 1,000 listed objects have ten each.
    static let elementsMax = 50_000

    let name: String
    var text = ""
    var children: [XMLNode] = []

    /// The first child of that name.
    subscript(_ name: String) -> XMLNode? { children.first { $0.name == name } }

    /// The text of the first child of that name.
    func text(of name: String) -> String? { self[name]?.text }

    /// Why a document is none.
    struct Malformed: Error, Hashable {
        /// The fault and the byte that it is at.
        let reason: String
    }

    /// The root element of a document; throws for anything that is not well-formed or too large.
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
