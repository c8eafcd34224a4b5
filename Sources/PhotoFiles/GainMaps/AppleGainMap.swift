public import Edits
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

/// The outcome for a gain map, decided only from the request.
public enum GainMapRules {
    /// Decides the outcome.
    ///
    /// The strictest filter decides: one that drops, then one that requires recomputed gains, then one that keeps them. A map of
    /// three channels stays exact only under filters that treat all channels alike. No definition declares that, so such a map is
    /// recomputed.
    ///
    /// - Parameters:
    ///   - filters: the recipe's filters that are not neutral.
    ///   - channels: the map's channels, 1 or 3.
    ///   - output: the output settings.
    public static func outcome(
        of filters: [Filter], channels: Int, as format: Recipe.Format, _ wish: Recipe.HDR
    ) -> GainMapOutcome {
        if wish == .drop { return .dropped(reason: "edit.output.hdr asks for it") }
        guard format.supportsGainMap else {
            return .dropped(reason: "none is written into a \(format.rawValue)")
        }
        var strictest = GainMapOutcome.carried
        for filter in filters where !filter.changesNothing {
            let isGeometry = if case .geometry = filter.definition.kernel { true } else { false }
            switch effect(of: filter) {
            case .dropped:
                return .dropped(reason: "after \(filter.name) no gain would be true")
            case .recomputed: strictest = .recomputed
            case .carried: if channels > 1, !isGeometry { strictest = .recomputed }
            case .kept: if strictest == .carried { strictest = .kept }
            }
        }
        return strictest
    }

    public static func effect(of filter: Filter) -> GainEffect {
        filter.definition.gainEffect(of: filter)
    }
}

extension Recipe.Format {
    var supportsGainMap: Bool { self == .jpeg || self == .heic }
}

/// A gain map that a photo's file contains: its location, and the meaning of its codes.
public struct GainMap: Sendable, Equatable {
    /// The location of its picture.
    public enum Location: Sendable, Equatable {
        /// A separate JPEG in these bytes of the file.
        case jpeg(Range<Int>)
        case item(Int)
    }

    public let location: Location
    /// Its size after decoding: for a JPEG as stored, for an item upright.
    public let width: Int, height: Int
    /// 1 for a map of one channel, 3 for colours.
    public let components: Int
    /// The meaning of its codes, after ``codes`` is applied.
    public let metadata: GainMapMetadata
    /// The replacement of each code; nil for no replacement.
    public let codes: [UInt8]?

    public var samples: Int { width * height * components }

    /// The byte range of its JPEG in the file; nil for an item.
    public var jpeg: Range<Int>? { if case .jpeg(let bytes) = location { bytes } else { nil } }
}
