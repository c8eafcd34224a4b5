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
    /// - Returns: nil when there is an ICC profile, or no such property.
    public init?(_ meta: HEIFMeta) {
        guard let primary = meta.primary else { return nil }
        for item in [primary] + meta.items(from: primary, by: "dimg").prefix(1) {
            for property in meta.properties(of: item) {
                switch property {
                case .profile: return nil
                case .codedColour(let colour):
                    (primaries, transfer) = (colour.primaries, colour.transfer)
                    return
                default: continue
                }
            }
        }
        return nil
    }
}
