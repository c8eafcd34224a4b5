public import Boxes

/// What the numbers of a HEIC or AVIF mean when no ICC profile says it.
///
/// Sources: ISO/IEC 14496-12 §12.1.5 (`colr` of type `nclx`); the codes are those of ITU-T H.273.
public struct HEIFColour: Sendable, Equatable {
    /// Which red, green and blue: 1 is BT.709 and sRGB, 12 is Display P3.
    public let primaries: Int
    /// Which curve: 13 is sRGB, 16 is PQ, 18 is HLG.
    public let transfer: Int

    /// Makes a colour of two codes.
    public init(primaries: Int, transfer: Int) {
        self.primaries = primaries
        self.transfer = transfer
    }

    /// The colour of the primary picture, or that of the first of its tiles where a grid says nothing.
    ///
    /// - Returns: nil when there is an ICC profile, which counts before codes, or no such property. A curve of HDR counts before a
    ///   profile, wherever it stands: the picture is not what a profile without light above white says.
    public init?(_ meta: HEIFMeta) {
        guard let primary = meta.primary else { return nil }
        for item in [primary] + meta.items(from: primary, by: "dimg").prefix(1) {
            let (coded, hasProfile) = Self.said(by: meta.properties(of: item))
            if let coded, !hasProfile || Self.curvesOfHDR.contains(coded.transfer) {
                self = coded
                return
            }
            if hasProfile { return nil }
        }
        return nil
    }

    /// PQ and HLG.
    private static let curvesOfHDR: Set = [16, 18]

    private static func said(
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
