import Edits

/// XMP that is larger than a segment of a JPEG: the packet, and an extension in further segments.
///
/// The extension is joined with the packet when a JPEG is read, so that other formats get all of it, and a JPEG gets a new one.
/// Source: XMP specification part 3 §1.1.3.1.
public enum ExtendedXMP {
    /// Most bytes of a packet with its extension.
    public static let bytesMax = 4 << 20
    /// Most bytes of a packet that is written to a JPEG. libvips writes up to 60,000 (jpegsave, 8.14); the declarations of a gain map
    /// and a video come on top.
    static let packetMax = 57_000
    /// Most bytes of the extension in one segment, as the specification recommends.
    private static let partMax = 65_400
    private static let identifierBytes = 32
    private static let property = "xmpNote:HasExtendedXMP"

    public static let signature = Array("http://ns.adobe.com/xmp/extension/\0".utf8)

    /// Returns whether a packet refers to an extension.
    public static func isNamed(in packet: [UInt8]) -> Bool { XMPPacket(packet).contains(property) }

    /// Whether bytes that are taken for a packet are a part of an extension: 32 digits of a digest, a length and an offset.
    public static func isPart(_ bytes: [UInt8]) -> Bool {
        bytes.count > identifierBytes
            && bytes.prefix(identifierBytes).allSatisfy {
                Character(Unicode.Scalar($0)).isHexDigit
            }
    }

    // MARK: Reading

    /// Joins a packet with its extension.
    ///
    /// - Parameters:
    ///   - packet: the packet.
    ///   - parts: the segments with the signature of an extension, without it.
    /// - Returns: nil if the extension is incomplete, too long or not readable.
    public static func joined(_ packet: [UInt8], with parts: [[UInt8]]) -> [UInt8]? {
        guard let name = XMP.values(property, in: packet).first.map({ Array($0.utf8) }),
            let extensionPacket = assembled(parts.filter { $0.starts(with: name) }),
            let descriptions = descriptions(in: extensionPacket)
        else { return nil }
        var main = XMPPacket(packet)
        main.remove(property)
        return XMP.adding(descriptions, to: main.bytes)
    }

    /// A part has the identifier, the length of the extension, and its own offset in it.
    private static func assembled(_ parts: [[UInt8]]) -> [UInt8]? {
        let head = identifierBytes + 8
        var placed: [(offset: Int, bytes: ArraySlice<UInt8>)] = []
        var length: Int?
        for part in parts {
            guard part.count > head else { return nil }
            let whole = TIFFBytes.number(part[identifierBytes..<identifierBytes + 4], true)
            let offset = TIFFBytes.number(part[identifierBytes + 4..<head], true)
            guard whole <= bytesMax, length ?? whole == whole else { return nil }
            length = whole
            placed.append((offset, part[head...]))
        }
        var bytes: [UInt8] = []
        for part in placed.sorted(by: { $0.offset < $1.offset }) {
            guard part.offset == bytes.count else { return nil }
            bytes += part.bytes
        }
        return bytes.count == length ? bytes : nil
    }

    /// Returns the descriptions of a packet as text, each with the name spaces that it is in.
    private static func descriptions(in bytes: [UInt8]) -> String? {
        guard let document = Document(bytes) else { return nil }
        var text: [UInt8] = []
        for description in document.descriptions {
            let own = Set(description.attributes.map(\.name))
            let inherited = document.spaces.filter { !own.contains($0.name) }
                .flatMap { [UInt8(ascii: " ")] + bytes[$0.whole].drop { $0 <= 0x20 } }
            text += bytes[description.whole.lowerBound..<description.tagEnd] + inherited
            text += bytes[description.tagEnd..<description.whole.upperBound]
        }
        return String(validating: text, as: UTF8.self)
    }

    // MARK: Writing

    /// A packet for a JPEG.
    public struct Parts: Sendable, Equatable {
        /// The packet of the first segment.
        public let packet: [UInt8]
        /// The contents of the segments with its extension, after the signature.
        public let parts: [[UInt8]]
    }

    /// Splits a packet if it is larger than a segment: the largest properties become its extension.
    ///
    /// - Returns: nil if the packet is too long, or has no readable properties.
    public static func split(_ packet: [UInt8]) -> Parts? {
        guard packet.count > packetMax else { return Parts(packet: packet, parts: []) }
        guard packet.count <= bytesMax, let document = Document(packet) else { return nil }
        var left = packet.count + declarationBytes
        var moved: Set<Int> = []
        for property in document.properties.sorted(by: { $0.whole.count > $1.whole.count }) {
            guard left > packetMax else { break }
            moved.insert(property.whole.lowerBound)
            left -= property.whole.count
        }
        let properties = document.properties.filter { moved.contains($0.whole.lowerBound) }
        let whole = extensionPacket(of: properties, in: document, packet)
        let name = MD5.hash(data: whole).hex.uppercased()
        var main = XMPPacket(packet)
        let gone = properties.map(\.whole) + padding(of: packet)
        main.apply(gone.map { ($0, []) })
        let about = document.descriptions.lazy.compactMap { description in
            description.attributes.first { document.abouts.contains($0.name) }
        }.first.map { String(decoding: packet[$0.value], as: UTF8.self) }?
        .replacing("'", with: "&apos;")
        let rest = XMP.adding(
            """
            <rdf:Description rdf:about='\(about ?? "")' xmlns:xmpNote="http://ns.adobe.com/xmp/note/" \
            \(property)="\(name)"/>
            """, to: main.bytes)
        guard rest.count <= packetMax else { return nil }
        let parts = stride(from: 0, to: whole.count, by: partMax).map { offset in
            Array(name.utf8) + TIFFBytes.bytes(of: whole.count, 4, true)
                + TIFFBytes.bytes(of: offset, 4, true) + whole[offset...].prefix(partMax)
        }
        return Parts(packet: rest, parts: parts)
    }

    /// Bytes by which the reference to the extension lengthens the packet.
    private static let declarationBytes = 512

    private static func extensionPacket(
        of properties: [Document.Property], in document: Document, _ packet: [UInt8]
    ) -> [UInt8] {
        var text = Array(
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"\(XMPNames.rdf)\">".utf8)
        for (index, description) in document.descriptions.enumerated() {
            let own = properties.filter { $0.description == index }
            guard !own.isEmpty else { continue }
            let declared = description.attributes.filter {
                Document.isSpace($0.name) || document.abouts.contains($0.name)
            }
            let names = Set(declared.map(\.name))
            text += Array("<\(description.name)".utf8)
            for attribute in declared + document.spaces.filter({ !names.contains($0.name) }) {
                text += [UInt8(ascii: " ")] + packet[attribute.whole].drop { $0 <= 0x20 }
            }
            for property in own where property.isAttribute {
                text += [UInt8(ascii: " ")] + packet[property.whole].drop { $0 <= 0x20 }
            }
            text.append(UInt8(ascii: ">"))
            for property in own where !property.isAttribute { text += packet[property.whole] }
            text += Array("</\(description.name)>".utf8)
        }
        return text + Array("</rdf:RDF></x:xmpmeta>".utf8)
    }

    /// Returns the white space before the end of a packet, with which writers leave room for changes in place.
    private static func padding(of packet: [UInt8]) -> [Range<Int>] {
        let end = Array("<?xpacket end".utf8)
        guard let start = packet.lastIndex(of: UInt8(ascii: "<")),
            packet[start...].starts(with: end)
        else { return [] }
        let last = packet[..<start].lastIndex { $0 > 0x20 } ?? start
        return last + 1 < start ? [last + 1..<start] : []
    }
}

/// The top-level properties of a packet.
private struct Document {
    /// The elements `rdf:Description`.
    let descriptions: [XMPElement]
    /// The name spaces that elements around them declare.
    let spaces: [XMPElement.Attribute]
    /// The written names of `rdf:about`.
    let abouts: [String]
    let properties: [Property]

    struct Property {
        let whole: Range<Int>
        let isAttribute: Bool
        let description: Int
    }

    /// Reads a packet; nil if it is not RDF, or not well-formed.
    init?(_ bytes: [UInt8]) {
        let names = XMPNames(of: bytes)
        guard !names.isBeyondLimits, names.declaresRDF,
            let root = XMPElement(bytes, in: 0..<bytes.count)
        else { return nil }
        let written = names.written("rdf:RDF")
        let isBare = written.contains(root.name)
        guard let rdf = isBare ? root : root.children.first(where: { written.contains($0.name) })
        else { return nil }
        let described = names.written("rdf:Description")
        descriptions = rdf.children.filter { described.contains($0.name) }
        abouts = names.written("rdf:about")
        let inner = rdf.attributes.filter { Self.isSpace($0.name) }
        let around = isBare ? [] : root.attributes.filter { Self.isSpace($0.name) }
        let innerNames = Set(inner.map(\.name))
        spaces = inner + around.filter { !innerNames.contains($0.name) }
        let rdfPrefixes = abouts.map { $0.prefix { $0 != ":" } + ":" }
        properties = descriptions.enumerated().flatMap { index, description in
            description.attributes.filter { attribute in
                attribute.name.contains(":") && !Self.isSpace(attribute.name)
                    && !attribute.name.hasPrefix("xml:")
                    && !rdfPrefixes.contains { attribute.name.hasPrefix($0) }
            }.map { Property(whole: $0.whole, isAttribute: true, description: index) }
                + description.children.map {
                    Property(whole: $0.whole, isAttribute: false, description: index)
                }
        }
    }

    static func isSpace(_ name: String) -> Bool { name == "xmlns" || name.hasPrefix("xmlns:") }
}
