/// A number as stored by ISO 21496-1 and EXIF: a fraction of two integers.
public struct Fraction: Sendable, Codable, Equatable {
    /// The numerator.
    public let numerator: Int32
    /// The denominator, never 0.
    public let denominator: UInt32

    /// Makes a fraction; nil when the denominator is 0.
    public init?(_ numerator: Int32, over denominator: UInt32) {
        guard denominator != 0 else { return nil }
        self.numerator = numerator
        self.denominator = denominator
    }

    /// Creates an integer.
    public init(_ whole: Int32) {
        numerator = whole
        denominator = 1
    }

    /// Largest denominator for a decimal number: more digits than a Float holds.
    private static let denominatorMax: UInt32 = 1_000_000_000

    /// Creates the nearest fraction over a power of ten, reduced; nil for a number that is not finite or exceeds 32 bits.
    public init?(nearest value: Double) {
        guard value.isFinite, abs(value) <= Double(Int32.max) else { return nil }
        var denominator = Self.denominatorMax
        while abs(value) * Double(denominator) > Double(Int32.max) { denominator /= 10 }
        let numerator = Int32((value * Double(denominator)).rounded())
        let common = Self.commonDivisor(UInt32(numerator.magnitude), denominator)
        self.numerator = numerator / Int32(common)
        self.denominator = denominator / common
    }

    /// Parses a decimal number of XMP, such as `1.75`.
    public init?(text: String) {
        guard text.utf8.count <= Self.textBytesMax, let value = Double(text) else { return nil }
        self.init(nearest: value)
    }

    /// Most characters of a number in XMP.
    private static let textBytesMax = 40

    private static func commonDivisor(_ first: UInt32, _ second: UInt32) -> UInt32 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }

    /// The number.
    public var value: Double { Double(numerator) / Double(denominator) }
}
