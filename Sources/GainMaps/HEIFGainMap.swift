public import Boxes
import Glibc
import Metadata

/// The statements of a HEIF about its gain map.
public enum HEIFGainMap {
    /// The name of the auxiliary picture.
    ///
    /// Under Apple's name readers before iOS 18 take its codes for Apple's law, which is near where codes are a straight line from
    /// no gain on, in one channel: so are those that Apple writes. All others have Samsung's, whose XMP says each number.
    public static func name(of metadata: GainMapMetadata) -> String {
        isLikeApple(metadata)
            ? "urn:com:apple:photo:2020:aux:hdrgainmap"
            : "urn:com:samsung:photo:2024:aux:hdrgainmap"
    }

    private static func isLikeApple(_ metadata: GainMapMetadata) -> Bool {
        let channel = metadata.channel(0)
        return metadata.channels.count == 1 && channel.min.value == 0 && channel.gamma.value == 1
            && metadata.baseHeadroom.value == 0
    }

    /// The XMP packet of the auxiliary picture: Adobe's properties, and Apple's where the name is Apple's.
    public static func packet(of metadata: GainMapMetadata) -> [UInt8] {
        guard isLikeApple(metadata) else { return metadata.hdrgm }
        // Version 2.0 as four bytes.
        return XMP.adding(
            """
            <rdf:Description rdf:about="" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" \
            HDRGainMap:HDRGainMapVersion="131072" \
            HDRGainMap:HDRGainMapHeadroom="\(exp2(metadata.alternateHeadroom.value))"/>
            """, to: metadata.hdrgm)
    }

    /// The colours of the photo in HDR, into which readers bring it: BT.2100 with PQ, of which all others are part.
    public static let alternateColour = HEIFProperty.CodedColour(
        primaries: 9, transfer: 16, matrix: 9, isFullRange: true)
}

extension GainMapMetadata {
    /// The data of an item `tmap`: a version of its own in front (ISO/IEC 23008-12:2025 §6.6.2.4).
    public var tmap: [UInt8] { [0] + iso }
}
