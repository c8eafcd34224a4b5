import Adjustments

/// XMP packets made true by changing single values in their text.
///
/// The packet is not parsed and written anew, so whatever else stands in it stays as it is. Sources:
/// XMP specification part 1 (ISO 16684-1) §7 for the two ways in which a simple property can stand, as an
/// attribute or as an element, and part 2 §3 for the properties. They are named here by the prefixes that it prefers
/// and that most writers use; a packet may declare others (``XMPNames``).
public enum XMP {
    /// The same packet with the facts of a rendered picture.
    ///
    /// - Returns: nil when the bytes are no UTF-8, or declare more prefixes than are looked at.
    public static func revised(_ bytes: [UInt8], to facts: PictureFacts) -> [UInt8]? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var packet = XMPPacket(bytes)
        guard packet.isReadable else { return nil }
        revise(&packet, to: facts)
        // Declarations may have gone with what they stood in, and other names count without them.
        for _ in 0..<roundsMax {
            let rest = XMPPacket(packet.bytes)
            guard rest.names != packet.names else { return packet.bytes }
            guard rest.isReadable else { return nil }
            packet = rest
            revise(&packet, to: facts)
        }
        return nil
    }

    /// Most times that a packet is looked through again.
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
    }

    /// What lay beside the original's picture in its file, and is not in a render: the gain map of Ultra HDR
    /// 1.1, the video of Motion Photo 1.0 and what phones of Oppo and Xiaomi say of it beside, an extension of the packet
    /// (XMP part 3 §1.1.3.1).
    private static let besideThePicture =
        ["hdrgm:Version", "Container:Directory", "xmpNote:HasExtendedXMP"]
        + [
            "MotionPhoto", "MotionPhotoVersion", "MotionPhotoPresentationTimestampUs", "MicroVideo",
            "MicroVideoVersion", "MicroVideoOffset", "MicroVideoPresentationTimestampUs",
        ].map { "GCamera:" + $0 }
        + [
            "MotionPhotoPrimaryPresentationTimestampUs", "MotionPhotoOwner", "MotionPhotoEnable",
            "OLivePhotoVersion", "VideoLength",
        ].map { "OpCamera:" + $0 } + ["MiCamera:VideoLength"]

    /// Properties that count in places of the original: faces and other regions (MWG 2.0 §5.9, IPTC Extension 1.5), the subject. They are structures
    /// of many properties, and the programs that find faces find them again.
    private static let ofPlaces = [
        "mwg-rs:Regions", "Iptc4xmpExt:ImageRegion", "MP:RegionInfo", "exif:SubjectArea",
        "exif:SubjectLocation",
    ]

    /// Whether the packet says that a gain map makes the picture HDR.
    public static func hasGainMap(_ bytes: [UInt8]) -> Bool {
        XMPPacket(bytes).contains("hdrgm:Version")
    }

    /// The values of a property: one where it is an attribute or a simple element, those of a list (`rdf:li`) in their
    /// order, none where it is missing.
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

    /// The values of a property that stands in several places, in their order.
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

    /// A packet of some `rdf:Description`.
    public static func packet(of descriptions: String) -> [UInt8] {
        Array(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
            <rdf:RDF xmlns:rdf="\(XMPNames.rdf)">\(descriptions)</rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }

    /// A packet with some `rdf:Description` more; a new one where there is none, or none that could be added to.
    public static func adding(_ descriptions: String, to bytes: [UInt8]?) -> [UInt8] {
        guard let bytes, let end = XMPPacket(bytes).endTag(ofRDF: "rdf:RDF") else {
            return packet(of: descriptions)
        }
        // A description is written with prefix rdf, which may be declared nowhere around it, or as something else.
        let start = "<rdf:Description"
        let added =
            end.written == "rdf:RDF"
            ? descriptions
            : descriptions.replacing(start, with: #"\#(start) xmlns:rdf="\#(XMPNames.rdf)""#)
        return bytes[..<end.place] + Array(added.utf8) + bytes[end.place...]
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
