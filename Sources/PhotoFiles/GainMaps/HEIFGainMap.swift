import Glibc

/// The declarations of a HEIF about its gain map.
public enum HEIFGainMap {
    /// Returns the name of the auxiliary picture.
    ///
    /// Under Apple's name, readers before iOS 18 interpret its codes by Apple's formula. So only maps whose gains are close to that
    /// formula have it: those of iOS 18 (γ 0.732 for 1.478 stops) are within 0.03 stops. All others have Samsung's name, whose XMP
    /// contains all numbers.
    public static func name(of metadata: GainMapMetadata) -> String {
        isLikeApple(metadata)
            ? "urn:com:apple:photo:2020:aux:hdrgainmap"
            : "urn:com:samsung:photo:2024:aux:hdrgainmap"
    }

    private static func isLikeApple(_ metadata: GainMapMetadata) -> Bool {
        let channel = metadata.channel(0)
        guard metadata.channels.count == 1, channel.min.value == 0,
            metadata.baseHeadroom.value == 0,
            abs(channel.max.value - metadata.alternateHeadroom.value) < stopsRounded,
            let apple = AppleGainMap(headroom: exp2(channel.max.value))
        else { return false }
        return (0...steps).allSatisfy { step in
            let code = Double(step) / Double(steps)
            return abs(apple.gain(ofCode: code) - channel.gain(ofCode: code)) <= likeStopsMax
        }
    }

    /// The allowed difference, in stops, of the greatest gain and the headroom, because writers round them.
    private static let stopsRounded = 0.01
    /// The allowed difference, in stops, between gains and Apple's formula.
    private static let likeStopsMax = 0.1
    /// Codes that are compared.
    private static let steps = 32

    /// Returns the XMP packet of the auxiliary picture: Adobe's properties, and also Apple's if the name is Apple's.
    public static func packet(of metadata: GainMapMetadata) -> [UInt8] {
        guard isLikeApple(metadata) else { return metadata.hdrgm }
        // Version 2.0 as four bytes.
        return XMP.adding(
            """
            <rdf:Description rdf:about="" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" \
            HDRGainMap:HDRGainMapVersion="131072" \
            HDRGainMap:HDRGainMapHeadroom="\(exp2(metadata.channel(0).max.value))"/>
            """, to: metadata.hdrgm)
    }

    /// The colour space of the photo in HDR, to which readers convert it: BT.2100 with PQ, which contains all others.
    public static let alternateColour = HEIFProperty.CodedColour(
        primaries: 9, transfer: 16, matrix: 9, isFullRange: true)
}

extension GainMapMetadata {
    /// The data of an item `tmap`, which begin with a version of their own (ISO/IEC 23008-12:2025 §6.6.2.4).
    public var tmap: [UInt8] { [0] + iso }
}
