import Edits

/// Updates XMP packets by changing single values in their text.
///
/// The packet is not parsed and written again, so everything else in it stays unchanged. Sources: XMP specification part 1 (ISO
/// 16684-1) §7 for the two forms of a simple property, attribute and element, and part 2 §3 for the properties. Properties are
/// named here by their preferred prefixes, which most writers use; a packet may declare others (``XMPNames``).
public enum XMP {
    /// Returns the packet updated with the facts of a rendered picture.
    ///
    /// - Returns: nil if the bytes are not UTF-8, or declare more prefixes than the limit.
    public static func revised(_ bytes: [UInt8], to facts: PictureFacts) -> [UInt8]? {
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
        if facts.removesLocation {
            for name in locationNames { packet.remove("exif:GPS" + name) }
        }
    }

    /// Properties about contents beside the original's picture that a render omits: the gain map of Ultra HDR 1.1, the video of
    /// Motion Photo 1.0 and additions of Oppo's and Xiaomi's phones, an extension of the packet (``ExtendedXMP`` joins it with the
    /// packet before and writes it anew), the unedited picture of Google's camera.
    private static let besideThePicture =
        [
            "hdrgm:Version", "Container:Directory", "xmpNote:HasExtendedXMP", "GImage:Mime",
            "GImage:Data",
        ]
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

    /// Part 2 §3.2: all properties of EXIF that begin with `GPS`.
    private static let locationNames = [
        "VersionID", "Latitude", "Longitude", "AltitudeRef", "Altitude", "TimeStamp", "Satellites",
        "Status", "MeasureMode", "DOP", "SpeedRef", "Speed", "TrackRef", "Track",
        "ImgDirectionRef", "ImgDirection", "MapDatum", "DestLatitude", "DestLongitude",
        "DestBearingRef", "DestBearing", "DestDistanceRef", "DestDistance", "ProcessingMethod",
        "AreaInformation", "Differential", "HPositioningError",
    ]
}
