/// The value of one parameter.
public enum FilterValue: Sendable, Equatable {
    case number(Double)
    /// A point `[x, y]`, a rectangle `[x, y, width, height]`, a colour `[r, g, b, a]`, a row of a
    /// matrix, or samples.
    case vector([Double])
    /// A word, or the digest of a resource.
    case text(String)
    /// Yes or no.
    case flag(Bool)
    /// A chain.
    case filters([Filter])
    case generator(Filter)
    case box(Fit.Box)
    case focus(Focus)

    public var json: JSONValue {
        switch self {
        case .number(let value): .number(value)
        case .vector(let values): .array(values.map(JSONValue.number))
        case .text(let value): .string(value)
        case .flag(let value): .bool(value)
        case .filters(let filters): .array(filters.map(\.json))
        case .generator(let filter): filter.json
        case .box(let box): box.json
        case .focus(let focus): focus.json
        }
    }

    public var number: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }
}

/// The location of a table's numbers.
public enum FilterTable: Sendable {
    /// In the recipe.
    case inline([Double])
    /// In the file with this digest.
    case file(String)
}

extension FilterValue: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    public init(arrayLiteral elements: Double...) { self = .vector(elements) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension FilterValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .number(let value): "\(value)"
        case .text(let value): value
        default: json.canonical
        }
    }
}

/// A picture that an edit names by its digest: a watermark or a mask.
public struct ResourcePicture: Sendable {
    /// Its size, upright.
    public let size: PixelSize
    /// Red, green, blue and alpha of each pixel, top row first: sRGB-encoded, not multiplied by alpha.
    public let codes: [UInt8]

    /// The most pixels, as stored and as used: 64 MB of codes.
    public static let pixelsMax = 16 << 20

    /// The size that a filter requests.
    public enum Fit: Sendable {
        /// Scaled by this factor.
        case scaled(Double)
        /// Its own size, but no larger than this.
        case within(PixelSize)
    }

    /// Returns the size of a picture of `size` that is scaled: sides are rounded, halves up, and at least 1.
    public static func size(of size: PixelSize, scaledBy scale: Double) -> PixelSize {
        // Bounded before the conversion to an integer.
        func side(_ side: Int) -> Int {
            Int(min(max(1, (Double(side) * scale).rounded()), Double(pixelsMax) + 1))
        }
        return PixelSize(width: side(size.width), height: side(size.height))
    }

    /// Makes a picture of `size.pixels` × 4 codes.
    public init(size: PixelSize, codes: [UInt8]) {
        precondition(codes.count == 4 * size.pixels, "\(codes.count) codes for \(size)")
        self.size = size
        self.codes = codes
    }
}
