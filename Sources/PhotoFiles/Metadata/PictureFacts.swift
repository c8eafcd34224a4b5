public import Edits

/// The facts of a rendered picture with which its metadata must agree.
///
/// The picture is upright: its orientation is 1, and its pixels are stored in display order.
public struct PictureFacts: Sendable, Equatable {
    public var size: PixelSize
    public var removesLocation: Bool
    /// Whether the samples became sRGB (true) or another colour space (false); nil if their meaning is that of the original.
    public var newColourIsSRGB: Bool?

    public var positions: Positions

    /// Whether EXIF's gain-map tags, Apple's headroom, are kept.
    public var hasGainMap: Bool

    /// The new identifier that the still of a Live Photo shares with its movie; nil for no change.
    public var contentIdentifier: String?

    /// The positions of a photo's content in the picture.
    public enum Positions: Sendable, Equatable {
        case same
        /// Moved by a geometry of the stored photo.
        case moved(Geometry)
        case unknown
    }

    public init(
        size: PixelSize, removesLocation: Bool = false, newColourIsSRGB: Bool? = nil,
        positions: Positions = .same, hasGainMap: Bool = true, contentIdentifier: String? = nil
    ) {
        self.contentIdentifier = contentIdentifier
        self.hasGainMap = hasGainMap
        self.positions = positions
        self.size = size
        self.removesLocation = removesLocation
        self.newColourIsSRGB = newColourIsSRGB
    }
}

/// The meaning of the codes of a HEIC or AVIF without an ICC profile.
///
/// Sources: ISO/IEC 14496-12 §12.1.5 (`colr` of type `nclx`); the codes are those of ITU-T H.273.
public struct HEIFColour: Sendable, Equatable {
    /// The primaries: 1 is BT.709 and sRGB, 12 is Display P3.
    public let primaries: Int
    /// The transfer function: 13 is sRGB, 16 is PQ, 18 is HLG.
    public let transfer: Int

    public init(primaries: Int, transfer: Int) {
        self.primaries = primaries
        self.transfer = transfer
    }

    /// Reads the colour of the primary picture, or of its first tile if a grid declares none.
    ///
    /// - Returns: nil if there is an ICC profile, which takes precedence over codes, or no such property. An HDR transfer function
    ///   takes precedence over a profile, wherever it is declared: a profile without light above white cannot describe such a
    ///   picture.
    public init?(_ meta: HEIFMeta) {
        guard let primary = meta.primary else { return nil }
        for item in [primary] + meta.items(from: primary, by: "dimg").prefix(1) {
            let (coded, hasProfile) = Self.declared(by: meta.properties(of: item))
            if let coded, !hasProfile || Self.curvesOfHDR.contains(coded.transfer) {
                self = coded
                return
            }
            if hasProfile { return nil }
        }
        return nil
    }

    private static let curvesOfHDR: Set = [16, 18]

    private static func declared(
        by properties: [HEIFProperty]
    ) -> (coded: HEIFColour?, hasProfile: Bool) {
        var (coded, hasProfile): (HEIFColour?, Bool) = (nil, false)
        for property in properties {
            switch property {
            case .profile: hasProfile = true
            case .codedColour(let colour):
                coded =
                    coded ?? HEIFColour(primaries: colour.primaries, transfer: colour.transfer)
            default: continue
            }
        }
        return (coded, hasProfile)
    }
}
