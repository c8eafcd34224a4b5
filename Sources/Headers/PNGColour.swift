/// The chunks of a PNG that declare the meaning of its codes, beside an ICC profile.
///
/// Source: PNG third edition §11.3.2.1 (cHRM), §11.3.2.2 (gAMA), §11.3.2.5 (sRGB), §11.3.2.6 (cICP); §4.3 and §13.13 (precedence:
/// cICP, iCCP, sRGB, then gAMA and cHRM).
public struct PNGColour: Sendable, Equatable {
    /// The numbers of ITU-T H.273 for primaries and transfer function; nil without them, and for codes that are not red, green and
    /// blue of the full range (matrix 0, range 1), as Chromium ignores them, too.
    public internal(set) var codes: (primaries: Int, transfer: Int)? {
        get { coded.map { ($0[0], $0[1]) } }
        set { coded = newValue.map { [$0.primaries, $0.transfer] } }
    }
    private var coded: [Int]?
    /// Whether there is an ICC profile.
    public internal(set) var hasProfile = false
    /// Whether the codes are declared to be sRGB.
    public internal(set) var isSRGB = false
    /// The exponent from light to codes, times 100,000.
    public internal(set) var gamma: Int?
    /// x and y of white, red, green and blue, times 100,000.
    public internal(set) var chromaticities: [Int]?

    /// Makes a declaration of nothing.
    public init() {}
}
