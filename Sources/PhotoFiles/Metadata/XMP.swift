import Edits

/// Updates XMP packets by changing single values in their text.
///
/// The packet is not parsed and written again, so everything else in it stays unchanged. Sources: XMP specification part 1 (ISO
/// 16684-1) §7 for the two forms of a simple property, attribute and element, and part 2 §3 for the properties. Properties are
/// named here by their preferred prefixes, which most writers use; a packet may declare others (``XMPNames``).
public enum XMP {
    /// Returns the packet updated with the facts of a rendered picture.
    ///
    /// - Returns: nil if the bytes are not UTF-8, or declare more prefixes than the limit, and without the location if they are not
    ///   well-formed.
    public static func revised(_ bytes: [UInt8], to facts: PictureFacts) -> [UInt8]? {
        let packet = corrected(bytes, to: facts)
        return facts.removesLocation ? packet.flatMap { PlacelessXMP.packet($0) } : packet
    }

    private static func corrected(_ bytes: [UInt8], to facts: PictureFacts) -> [UInt8]? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var packet = XMPPacket(bytes)
        guard packet.isReadable else { return nil }
        revise(&packet, to: facts)
        // Declarations may have been removed with their elements, and then other names match.
        for _ in 0..<roundsMax {
            let rest = XMPPacket(packet.bytes)
            guard rest.names != packet.names else { return packet.bytes }
            guard rest.isReadable else { return nil }
            packet = rest
            revise(&packet, to: facts)
        }
        return nil
    }

    /// Most passes over a packet.
    private static let roundsMax = 4

    private static func revise(_ packet: inout XMPPacket, to facts: PictureFacts) {
        packet.replace("tiff:Orientation", by: "1")
        for name in ["tiff:ImageWidth", "exif:PixelXDimension"] {
            packet.replace(name, by: "\(facts.size.width)")
        }
        for name in ["tiff:ImageLength", "exif:PixelYDimension"] {
            packet.replace(name, by: "\(facts.size.height)")
        }
        if let isSRGB = facts.newColourIsSRGB {
            packet.replace("exif:ColorSpace", by: isSRGB ? "1" : "65535")
            // The name of the old profile, which may contradict the embedded one.
            packet.remove("photoshop:ICCProfile")
        }
        // Pictures of the original; xap is the prefix of xmp in old packets.
        packet.remove("xmp:Thumbnails")
        packet.remove("xap:Thumbnails")
        for name in besideThePicture { packet.remove(name) }
        if facts.positions != .same {
            let map = ContentMap(facts.positions)
            packet.moveRegions(map, to: facts.size)
            packet.moveSubject(facts.positions)
            packet.movePanorama(map)
            for name in depthProperties { packet.remove(name) }
        }
    }

    /// Properties about contents beside the original's picture that a render omits: the gain map of Ultra HDR 1.1, the video of
    /// Motion Photo 1.0 and additions of Oppo's and Xiaomi's phones, an extension of the packet (``ExtendedXMP`` joins it with the
    /// packet before and writes it anew), the unedited picture of Google's camera, and the place of a C2PA manifest.
    private static let besideThePicture =
        [
            "hdrgm:Version", "Container:Directory", "xmpNote:HasExtendedXMP", "GImage:Mime",
            "GImage:Data",
        ] + ValueCopies.ofFile
        + [
            "MotionPhoto", "MotionPhotoVersion", "MotionPhotoPresentationTimestampUs", "MicroVideo",
            "MicroVideoVersion", "MicroVideoOffset", "MicroVideoPresentationTimestampUs",
        ].map { "GCamera:" + $0 }
        + [
            "MotionPhotoPrimaryPresentationTimestampUs", "MotionPhotoOwner", "MotionPhotoEnable",
            "OLivePhotoVersion", "VideoLength",
        ].map { "OpCamera:" + $0 } + ["MiCamera:VideoLength"]

    /// Google's "Depthmap Metadata": the depth of each pixel of the original, in the packet itself.
    private static let depthProperties = [
        "Format", "Near", "Far", "Mime", "Data", "Units", "MeasureType", "ConfidenceMime",
        "Confidence", "Manufacturer", "Model", "Software", "ImageWidth", "ImageHeight",
        "FocalLengthX", "FocalLengthY", "PrincipalPointX", "PrincipalPointY", "DepthImage",
    ].map { "GDepth:" + $0 }

    /// Returns whether the packet contains a map of depth.
    public static func hasDepth(_ bytes: [UInt8]) -> Bool {
        let packet = XMPPacket(bytes)
        return packet.contains("GDepth:Data") || packet.contains("GDepth:DepthImage")
    }

    /// Returns whether the packet contains another picture: the unedited one of Google's camera, or that of the other eye.
    public static func hasPicture(_ bytes: [UInt8]) -> Bool {
        XMPPacket(bytes).contains("GImage:Data")
    }

    /// Returns whether the packet says where the photo's C2PA manifest is, which is then not in the file.
    public static func namesManifest(_ bytes: [UInt8]) -> Bool {
        let packet = XMPPacket(bytes)
        return ValueCopies.ofFile.contains { packet.contains($0) }
    }

    /// Returns whether the packet declares a gain map that makes the picture HDR.
    public static func hasGainMap(_ bytes: [UInt8]) -> Bool {
        XMPPacket(bytes).contains("hdrgm:Version")
    }

    /// Returns the values of a property: one for an attribute or a simple element, those of a list (`rdf:li`) in their order, none
    /// if it is missing.
    public static func values(_ name: String, in bytes: [UInt8]) -> [String] {
        let packet = XMPPacket(bytes)
        guard let value = packet.find(name, from: 0)?.value else { return [] }
        let list = packet.part(value)
        var values: [String] = []
        var start = 0
        while values.count < listMax, let item = list.find("rdf:li", from: start) {
            values.append(item.value.map { XMPPacket.text(list.bytes[$0]) } ?? "")
            start = item.whole.upperBound
        }
        return values.isEmpty ? [XMPPacket.text(bytes[value])] : values
    }

    /// Returns the values of a property that occurs several times, in their order.
    public static func values(_ name: String, among most: Int, in bytes: [UInt8]) -> [String] {
        let packet = XMPPacket(bytes)
        var values: [String] = []
        var start = 0
        while values.count < most, let found = packet.find(name, from: start) {
            values.append(found.value.map { XMPPacket.text(bytes[$0]) } ?? "")
            start = found.whole.upperBound
        }
        return values
    }

    /// Most values of a list that are read.
    private static let listMax = 64

    /// Returns a packet of `rdf:Description` elements.
    public static func packet(of descriptions: String) -> [UInt8] {
        Array(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
            <rdf:RDF xmlns:rdf="\(XMPNames.rdf)">\(descriptions)</rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }

    /// Returns a packet with additional `rdf:Description` elements; a new one if there is none, or none that can be extended.
    public static func adding(_ descriptions: String, to bytes: [UInt8]?) -> [UInt8] {
        guard let bytes, let end = XMPPacket(bytes).endTag(ofRDF: "rdf:RDF") else {
            return packet(of: descriptions)
        }
        // A description is written with the prefix rdf, which the packet may not declare, or may declare as something else.
        let start = "<rdf:Description"
        let added =
            end.written == "rdf:RDF"
            ? descriptions
            : descriptions.replacing(start, with: #"\#(start) xmlns:rdf="\#(XMPNames.rdf)""#)
        return bytes[..<end.offset] + Array(added.utf8) + bytes[end.offset...]
    }
}

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
    static let spaces = [
        "rdf": rdf,
        "dcterms": "http://purl.org/dc/terms/",
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
    private(set) var declaresRDF = false

    /// - Parameter further: name spaces beside the known ones, by their usual prefixes.
    init(of bytes: [UInt8], further: [String: String] = [:]) {
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
        for (usual, uri) in Self.spaces.merging(further, uniquingKeysWith: { $1 }) {
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

    /// Returns the URIs that each prefix is declared for; nil if there are more declarations than the limit.
    static func prefixes(in bytes: [UInt8]) -> [String: Set<String>]? {
        var prefixes: [String: Set<String>] = [:]
        var declarations = Declarations(bytes)
        var count = 0
        while let (prefix, uri) = declarations.next() {
            count += 1
            guard count <= declarationsMax else { return nil }
            prefixes[prefix, default: []].insert(uri)
        }
        return prefixes
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
