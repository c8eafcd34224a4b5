import Glibc

/// Apple's own gain maps, which have a single parameter: the ratio of the brightest pixel to white.
///
/// With headroom H and a code's linear light l, the gain is 1 + (H − 1)·l. Source: Apple, "Applying Apple HDR effect to your
/// photos". Its logarithm is not linear in the code, so codes are mapped by a table (``isoCodes``) and the map then conforms to ISO
/// 21496-1.
public struct AppleGainMap: Sendable, Equatable {
    /// H, greater than 1 and at most ``headroomMax``.
    public let headroom: Double

    /// Apple's screens show at most 8 times white; this is our limit on the value in a file.
    public static let headroomMax = 64.0
    /// The limit on the MakerNote's tags: no photo has values far beyond 8.
    private static let tagMax = 1e6

    /// Checks a headroom; nil if it is out of range.
    public init?(headroom: Double) {
        guard headroom.isFinite, headroom > 1, headroom <= Self.headroomMax else { return nil }
        self.headroom = headroom
    }

    /// Computes the headroom from tags 0x21 and 0x30 of a MakerNote, by the four lines of Apple's article.
    public init?(tag33: Double, tag48: Double) {
        guard abs(tag33) < Self.tagMax, abs(tag48) < Self.tagMax else { return nil }
        let stops =
            if tag33 < 1 {
                tag48 <= 0.01 ? -20 * tag48 + 1.8 : -0.101 * tag48 + 1.601
            } else {
                tag48 <= 0.01 ? -70 * tag48 + 3 : -0.303 * tag48 + 2.303
            }
        self.init(headroom: exp2(max(stops, 0)))
    }

    /// Reads the parameters of a map that Apple's XMP declares.
    ///
    /// - Parameters:
    ///   - packet: the map's own XMP.
    ///   - exif: the photo's EXIF, whose MakerNote is used if the XMP has no headroom.
    /// - Returns: nil if the packet declares no gain map, or no headroom is found.
    public init?(xmp packet: [UInt8], exif: [UInt8]?) {
        guard !XMP.values("HDRGainMap:HDRGainMapVersion", in: packet).isEmpty else { return nil }
        if let text = XMP.values("HDRGainMap:HDRGainMapHeadroom", in: packet).first,
            let stated = Fraction(text: text), let map = AppleGainMap(headroom: stated.value)
        {
            self = map
            return
        }
        guard let tags = exif.flatMap(AppleMakerNote.headroomTags) else { return nil }
        self.init(tag33: tags.tag33, tag48: tags.tag48)
    }

    /// The same gains in ISO 21496-1, for codes that were mapped by ``isoCodes``.
    public var metadata: GainMapMetadata? {
        guard let stops = Fraction(nearest: log2(headroom)) else { return nil }
        return GainMapMetadata(
            channels: [
                .init(
                    min: Fraction(0), max: stops, baseOffset: Fraction(0),
                    alternateOffset: Fraction(0))
            ], baseHeadroom: Fraction(0), alternateHeadroom: stops)
    }

    /// The code of ISO 21496-1, with γ 1, for each of Apple's: log2(1 + (H − 1)·l) / log2 H.
    public var isoCodes: [UInt8] {
        (0...255).map { code in
            UInt8((255 * gain(ofCode: Double(code) / 255) / log2(headroom)).rounded())
        }
    }

    /// Returns the gain in stops of a code from 0 to 1.
    func gain(ofCode code: Double) -> Double { log2(1 + (headroom - 1) * Self.light(ofCode: code)) }

    /// Returns linear light by the curve of BT.709-6 §1.2, which Apple's article specifies for the codes.
    private static func light(ofCode code: Double) -> Double {
        code < 0.081 ? code / 4.5 : pow((code + 0.099) / 1.099, 1 / 0.45)
    }
}
