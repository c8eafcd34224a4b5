import Adjustments

/// XMP packets made true by changing single values in their text.
///
/// The packet is not parsed and written anew, so whatever else stands in it stays as it is. Sources:
/// XMP specification part 1 (ISO 16684-1) §7 for the two ways in which a simple property can stand, as an
/// attribute or as an element, and part 2 §3 for the properties, by the prefixes that it prefers and
/// that all known writers use.
public enum XMP {
    /// The same packet with the facts of a rendered picture.
    ///
    /// - Returns: nil when the bytes are no UTF-8.
    public static func revised(_ bytes: [UInt8], to facts: PictureFacts) -> [UInt8]? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var packet = Packet(bytes: bytes)
        packet.replace("tiff:Orientation", by: "1")
        for name in ["tiff:ImageWidth", "exif:PixelXDimension"] {
            packet.replace(name, by: "\(facts.size.width)")
        }
        for name in ["tiff:ImageLength", "exif:PixelYDimension"] {
            packet.replace(name, by: "\(facts.size.height)")
        }
        if let isSRGB = facts.newColourIsSRGB {
            packet.replace("exif:ColorSpace", by: isSRGB ? "1" : "65535")
            // The name of the old profile, which the embedded one now contradicts.
            packet.remove("photoshop:ICCProfile")
        }
        // Pictures of the original; xap is the prefix of xmp in old packets.
        packet.remove("xmp:Thumbnails")
        packet.remove("xap:Thumbnails")
        for name in besideThePicture { packet.remove(name) }
        if facts.places != .same { for name in ofPlaces { packet.remove(name) } }
        if facts.removesLocation {
            for name in locationNames { packet.remove("exif:GPS" + name) }
        }
        return packet.bytes
    }

    /// What lay beside the original's picture in its file, and is not in a render: the gain map of Ultra HDR
    /// 1.1, the video of Motion Photo 1.0, an extension of the packet (XMP part 3 §1.1.3.1).
    private static let besideThePicture =
        ["hdrgm:Version", "Container:Directory", "xmpNote:HasExtendedXMP"]
        + [
            "MotionPhoto", "MotionPhotoVersion", "MotionPhotoPresentationTimestampUs", "MicroVideo",
            "MicroVideoVersion", "MicroVideoOffset", "MicroVideoPresentationTimestampUs",
        ].map { "GCamera:" + $0 }

    /// Properties that count in places of the original: faces and other regions (MWG 2.0 §5.9, IPTC Extension 1.5), the subject. They are structures
    /// of many properties, and the programs that find faces find them again.
    private static let ofPlaces = [
        "mwg-rs:Regions", "Iptc4xmpExt:ImageRegion", "MP:RegionInfo", "exif:SubjectArea",
        "exif:SubjectLocation",
    ]

    /// Whether the packet says that a gain map makes the picture HDR.
    public static func hasGainMap(_ bytes: [UInt8]) -> Bool {
        Packet(bytes: bytes).contains("hdrgm:Version")
    }

    /// The values of a property: one where it is an attribute or a simple element, those of a list (`rdf:li`) in their
    /// order, none where it is missing.
    public static func values(_ name: String, in bytes: [UInt8]) -> [String] {
        let packet = Packet(bytes: bytes)
        guard let value = packet.find(Array(name.utf8), from: 0)?.value else { return [] }
        let list = Packet(bytes: Array(bytes[value]))
        var values: [String] = []
        var start = 0
        while values.count < listMax, let item = list.find(Array("rdf:li".utf8), from: start) {
            values.append(item.value.map { Packet.text(list.bytes[$0]) } ?? "")
            start = item.whole.upperBound
        }
        return values.isEmpty ? [Packet.text(bytes[value])] : values
    }

    /// The values of a property that stands in several places, in their order.
    public static func values(_ name: String, among most: Int, in bytes: [UInt8]) -> [String] {
        let packet = Packet(bytes: bytes)
        var values: [String] = []
        var start = 0
        while values.count < most, let found = packet.find(Array(name.utf8), from: start) {
            values.append(found.value.map { Packet.text(bytes[$0]) } ?? "")
            start = found.whole.upperBound
        }
        return values
    }

    /// Most values of a list that are read.
    private static let listMax = 64

    /// A packet of some `rdf:Description`.
    public static func packet(of descriptions: String) -> [UInt8] {
        Array(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
            <rdf:RDF xmlns:rdf="\(rdfNamespace)">\(descriptions)</rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }

    private static let rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    /// A packet with some `rdf:Description` more; a new one where there is none, or none that could be added to.
    public static func adding(_ descriptions: String, to bytes: [UInt8]?) -> [UInt8] {
        let end = Array("</rdf:RDF>".utf8)
        guard let bytes, Packet(bytes: bytes).declares("rdf", as: rdfNamespace),
            let place = Packet(bytes: bytes).range(of: end, from: 0)
        else { return packet(of: descriptions) }
        return bytes[..<place.lowerBound] + Array(descriptions.utf8) + bytes[place.lowerBound...]
    }

    /// Part 2 §3.2: all properties of EXIF that begin with `GPS`.
    private static let locationNames = [
        "VersionID", "Latitude", "Longitude", "AltitudeRef", "Altitude", "TimeStamp", "Satellites",
        "Status", "MeasureMode", "DOP", "SpeedRef", "Speed", "TrackRef", "Track",
        "ImgDirectionRef", "ImgDirection", "MapDatum", "DestLatitude", "DestLongitude",
        "DestBearingRef", "DestBearing", "DestDistanceRef", "DestDistance", "ProcessingMethod",
        "AreaInformation", "Differential", "HPositioningError",
    ]
}

/// The text of a packet, searched and changed as bytes: all that counts is ASCII.
private struct Packet {
    var bytes: [UInt8]

    private static let space: Set<UInt8> = Set(" \t\r\n".utf8)

    /// Where a property stands.
    struct Property {
        let whole: Range<Int>
        /// What is between the quotes or the tags; nil for an element that closes itself.
        let value: Range<Int>?
    }

    mutating func replace(_ name: String, by value: String) {
        let value = Array(value.utf8)
        change(name) { property in property.value.map { ($0, value) } }
    }

    mutating func remove(_ name: String) {
        change(name) { ($0.whole, []) }
    }

    /// Some bytes of the packet, without the white space around them.
    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let start = bytes.firstIndex { !space.contains($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !space.contains($0) } ?? start
        return String(decoding: start < bytes.endIndex ? bytes[start...end] : [], as: UTF8.self)
    }

    /// Whether a prefix stands for a name space.
    func declares(_ prefix: String, as name: String) -> Bool {
        find(Array("xmlns:\(prefix)".utf8), from: 0)?.value.map {
            bytes[$0].elementsEqual(name.utf8)
        }
            ?? false
    }

    func contains(_ name: String) -> Bool { find(Array(name.utf8), from: 0) != nil }

    private mutating func change(
        _ name: String, _ edit: (Property) -> (place: Range<Int>, new: [UInt8])?
    ) {
        let name = Array(name.utf8)
        var start = 0
        while let property = find(name, from: start) {
            start = property.whole.upperBound
            if let (place, new) = edit(property) {
                bytes.replaceSubrange(place, with: new)
                start += new.count - place.count
            }
        }
    }

    func find(_ name: [UInt8], from start: Int) -> Property? {
        var place = start
        while let found = range(of: name, from: place) {
            place = found.upperBound
            guard found.lowerBound > 0, place < bytes.count else { continue }
            let before = bytes[found.lowerBound - 1]
            // A longer name that begins with this one is another property.
            let ends =
                Self.space.contains(bytes[place]) || [0x3D, 0x3E, 0x2F].contains(bytes[place])
            guard ends else { continue }
            if before == UInt8(ascii: "<") {
                // What is not closed here is closed nowhere, so looking on is in vain.
                return element(name, at: found)
            } else if Self.space.contains(before) {
                if let attribute = attribute(at: found) { return attribute }
            }
        }
        return nil
    }

    /// `name="value"`, with the white space before it.
    private func attribute(at name: Range<Int>) -> Property? {
        var place = skipSpace(from: name.upperBound)
        guard place < bytes.count, bytes[place] == UInt8(ascii: "=") else { return nil }
        place = skipSpace(from: place + 1)
        guard place < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[place]),
            let end = bytes[(place + 1)...].firstIndex(of: bytes[place])
        else { return nil }
        return Property(whole: name.lowerBound - 1..<end + 1, value: place + 1..<end)
    }

    /// `<name>value</name>` or `<name/>`.
    private func element(_ name: [UInt8], at found: Range<Int>) -> Property? {
        guard let end = bytes[found.upperBound...].firstIndex(of: UInt8(ascii: ">")) else {
            return nil
        }
        let open = found.lowerBound - 1
        if bytes[end - 1] == UInt8(ascii: "/") {
            return Property(whole: open..<end + 1, value: nil)
        }
        guard let close = range(of: Array("</".utf8) + name + Array(">".utf8), from: end + 1) else {
            return nil
        }
        return Property(whole: open..<close.upperBound, value: end + 1..<close.lowerBound)
    }

    private func skipSpace(from start: Int) -> Int {
        bytes[start...].firstIndex { !Self.space.contains($0) } ?? bytes.count
    }

    func range(of text: [UInt8], from start: Int) -> Range<Int>? {
        var place = start
        while place + text.count <= bytes.count,
            let next = bytes[place...(bytes.count - text.count)].firstIndex(of: text[0])
        {
            if bytes[next..<next + text.count].elementsEqual(text) {
                return next..<next + text.count
            }
            place = next + 1
        }
        return nil
    }
}
