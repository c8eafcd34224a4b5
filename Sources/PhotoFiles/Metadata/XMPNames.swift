/// The prefixes by which a packet names the known name spaces.
///
/// A property is requested by its usual name (`Container:Directory`) and found under every prefix that the packet declares for the
/// same URI. The usual prefix is valid unless the packet declares it as something else, because packets without declarations are in
/// use. Scopes are ignored: a prefix that is declared for two URIs counts for both. Source: Namespaces in XML 1.0.
struct XMPNames: Equatable {
    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    /// URIs by their usual prefixes. Sources: XMP specification part 2, IPTC Extension, MWG 2.0 §5.9, Ultra HDR 1.1, Motion
    /// Photo 1.0, Google's "Depthmap Metadata" and "Photo Sphere XMP Metadata", Adobe's "Gain Map Specification", and files of
    /// Apple's, Microsoft's and ACD's programs.
    private static let spaces = [
        "rdf": rdf,
        "tiff": "http://ns.adobe.com/tiff/1.0/",
        "exif": "http://ns.adobe.com/exif/1.0/",
        "photoshop": "http://ns.adobe.com/photoshop/1.0/",
        "xmp": "http://ns.adobe.com/xap/1.0/",
        "xmpNote": "http://ns.adobe.com/xmp/note/",
        "hdrgm": "http://ns.adobe.com/hdr-gain-map/1.0/",
        "Container": "http://ns.google.com/photos/1.0/container/",
        "Item": "http://ns.google.com/photos/1.0/container/item/",
        "GCamera": "http://ns.google.com/photos/1.0/camera/",
        "OpCamera": "http://ns.oplus.com/photos/1.0/camera/",
        "mwg-rs": "http://www.metadataworkinggroup.com/schemas/regions/",
        "stArea": "http://ns.adobe.com/xmp/sType/Area#",
        "stDim": "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
        "apple-fi": "http://ns.apple.com/faceinfo/1.0/",
        "acdsee-rs": "http://ns.acdsee.com/regions/",
        "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
        "MP": "http://ns.microsoft.com/photo/1.2/",
        "MPRI": "http://ns.microsoft.com/photo/1.2/t/RegionInfo#",
        "MPReg": "http://ns.microsoft.com/photo/1.2/t/Region#",
        "GPano": "http://ns.google.com/photos/1.0/panorama/",
        "GDepth": "http://ns.google.com/photos/1.0/depthmap/",
        "GFocus": "http://ns.google.com/photos/1.0/focus/",
        "GImage": "http://ns.google.com/photos/1.0/image/",
        "apdi": "http://ns.apple.com/pixeldatainfo/1.0/",
        "HDRGainMap": "http://ns.apple.com/HDRGainMap/1.0/",
    ]

    /// Most declarations that are read; programs write up to thirty.
    private static let declarationsMax = 1_024
    /// Most prefixes of one name space: the whole packet is searched for each.
    private static let prefixesMax = 4

    /// The written prefixes by usual prefix, if the packet declares other ones; `:` included.
    private var written: [String: [String]] = [:]
    /// Whether the packet exceeds the limits on declarations or on prefixes of one name space.
    private(set) var isBeyondLimits = false
    /// Whether the packet declares a prefix for RDF.
    private(set) var declaresRDF = false

    /// Reads the declarations of a packet.
    init(of bytes: [UInt8]) {
        var declared: [String: Set<String>] = [:]
        var declarations = Declarations(bytes)
        var count = 0
        while let (prefix, uri) = declarations.next() {
            count += 1
            guard count <= Self.declarationsMax else {
                isBeyondLimits = true
                break
            }
            declared[uri, default: []].insert(prefix)
        }
        declaresRDF = declared[Self.rdf] != nil
        let prefixesInUse = Set(declared.values.joined())
        for (usual, uri) in Self.spaces {
            guard let prefixes = declared[uri] else {
                // Not declared at all, or declared as something else.
                if prefixesInUse.contains(usual) { written[usual] = [] }
                continue
            }
            if prefixes.count > Self.prefixesMax { isBeyondLimits = true }
            let usuals = prefixesInUse.contains(usual) ? [] : [usual]
            written[usual] = (prefixes.sorted().prefix(Self.prefixesMax) + usuals).map {
                $0.isEmpty ? "" : $0 + ":"
            }
        }
    }

    /// Returns the names of a property in the packet; a name of an unknown name space is returned unchanged.
    func written(_ name: String) -> [String] {
        guard let colon = name.firstIndex(of: ":"),
            let prefixes = written[String(name[..<colon])]
        else { return [name] }
        return prefixes.map { $0 + name[name.index(after: colon)...] }
    }
}

/// An iterator over the attributes `xmlns="…"` and `xmlns:…="…"` in some bytes.
private struct Declarations {
    private let bytes: [UInt8]
    private var offset = 0

    private static let start = Array("xmlns".utf8)
    /// Most bytes of a prefix and of a URI.
    private static let lengthMax = 256

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next declaration; an empty prefix is the default name space.
    mutating func next() -> (prefix: String, uri: String)? {
        while offset + Self.start.count < bytes.count,
            let found = bytes[offset...].firstIndex(of: Self.start[0])
        {
            offset = found + 1
            guard bytes[found...].starts(with: Self.start) else { continue }
            offset = found + Self.start.count
            let prefix: String?
            switch offset < bytes.count ? bytes[offset] : 0 {
            case UInt8(ascii: ":"):
                offset += 1
                prefix = text { Self.endsName($0) }
            default: prefix = ""
            }
            skipSpace()
            guard let prefix, offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else {
                continue
            }
            offset += 1
            skipSpace()
            guard offset < bytes.count,
                [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[offset])
            else { continue }
            let quote = bytes[offset]
            offset += 1
            if let uri = text({ $0 == quote }) { return (prefix, uri) }
        }
        return nil
    }

    private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x3D }

    private mutating func skipSpace() {
        while offset < bytes.count, " \t\r\n".utf8.contains(bytes[offset]) { offset += 1 }
    }

    /// Returns the text before a terminating byte; nil if that is too far away.
    private mutating func text(_ ends: (UInt8) -> Bool) -> String? {
        let start = offset
        guard let end = bytes[start...].prefix(Self.lengthMax).firstIndex(where: ends) else {
            return nil
        }
        offset = end
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }
}
