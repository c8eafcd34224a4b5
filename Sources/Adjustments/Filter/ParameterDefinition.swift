/// One parameter of a filter.
public struct ParameterDefinition: Sendable {
    /// The name Core Image gives it, such as `inputIntensity`.
    public let name: String
    /// One sentence: what it does.
    public let summary: String
    /// Which values it takes.
    public let kind: Kind
    /// The value when a recipe does not say; nil when a recipe has to say.
    public let defaultValue: FilterValue?
    /// The value that changes nothing, if there is one.
    public let identity: FilterValue?

    /// Which values a parameter takes.
    public enum Kind: Sendable {
        /// A number; values outside the range are refused.
        case number(ClosedRange<Double>, Unit)
        /// As many numbers as units, each in the range: a point, a rectangle, a row of a matrix.
        case vector(ClosedRange<Double>, [Unit])
        /// Red, green, blue and perhaps alpha, sRGB-encoded 0 to 1, or `"#rrggbb"`; kept with alpha.
        case color
        /// A list of numbers, as long as the range says, in a multiple of `groups`.
        case samples(ClosedRange<Double>, count: ClosedRange<Int>, groups: Int)
        /// Such a list, or a file of its numbers as little-endian 32-bit floats, by digest.
        case table(ClosedRange<Double>, count: ClosedRange<Int>, groups: Int)
        /// One of some words.
        case choice([String])
        /// Yes or no.
        case flag
        /// A file beside the photos, such as a table of colours or a mask, by the digest of its
        /// content: `"sha256:"` and 64 hexadecimal digits.
        case resource
        /// A list of filters.
        case filters
        /// One filter that makes a picture of its own, such as a gradient.
        case generator
    }

    /// What a number counts.
    public enum Unit: String, Sendable {
        /// A plain factor.
        case factor
        /// A length in pixels of the photo the edit was made on: scales with the photo.
        case pixels
        /// A place from the left, in such pixels.
        case x
        /// A place from the bottom, in such pixels.
        case y
        /// Radians, counter-clockwise.
        case radians
        /// Degrees, clockwise: CSS.
        case degrees
        /// Powers of two of light.
        case stops
        /// Colour temperature.
        case kelvin
        /// A number of things.
        case count
    }

    /// Makes a parameter of any kind.
    public init(
        name: String, summary: String, kind: Kind, defaultValue: FilterValue?,
        identity: FilterValue? = nil
    ) {
        self.name = name
        self.summary = summary
        self.kind = kind
        self.defaultValue = defaultValue
        self.identity = identity
    }

    /// A number.
    public static func number(
        _ name: String, _ summary: String, default defaultValue: Double,
        _ range: ClosedRange<Double>, _ unit: Unit = .factor, identity: Double? = nil
    ) -> Self {
        Self(
            name: name, summary: summary, kind: .number(range, unit),
            defaultValue: .number(defaultValue), identity: identity.map(FilterValue.number))
    }

    /// Some numbers.
    public static func vector(
        _ name: String, _ summary: String, default defaultValue: [Double]?,
        _ range: ClosedRange<Double>, _ units: [Unit], identity: [Double]? = nil
    ) -> Self {
        Self(
            name: name, summary: summary, kind: .vector(range, units),
            defaultValue: defaultValue.map(FilterValue.vector),
            identity: identity.map(FilterValue.vector))
    }

    /// A place in the photo, in pixels from the bottom left; it may lie outside.
    public static func point(
        _ name: String, _ summary: String, default defaultValue: [Double]?
    ) -> Self {
        vector(name, summary, default: defaultValue, placeRange, [.x, .y])
    }

    /// A colour, sRGB-encoded.
    public static func color(
        _ name: String, _ summary: String, default defaultValue: [Double],
        identity: [Double]? = nil
    ) -> Self {
        Self(
            name: name, summary: summary, kind: .color, defaultValue: .vector(defaultValue),
            identity: identity.map(FilterValue.vector))
    }

    /// One of some words, the first of which is the default.
    public static func choice(_ name: String, _ summary: String, _ words: [String]) -> Self {
        Self(
            name: name, summary: summary, kind: .choice(words),
            defaultValue: words.first.map(FilterValue.text))
    }

    /// Places lie within ten million pixels: far outside of any photo, and exact as a Float's integers
    /// are.
    public static let placeRange = -1e7...1e7

    /// The short name that is accepted too: `inputIntensity` → `intensity`, as Core Image's
    /// typed Swift interface spells it.
    public var shortName: String {
        guard name.hasPrefix("input") else { return name }
        let rest = name.dropFirst("input".count)
        let second = rest.dropFirst().first
        // `inputRVector` → `RVector`, `inputEV` → `ev`, as Core Image's own names go.
        if rest.allSatisfy(\.isUppercase) { return rest.lowercased() }
        if let second, second.isUppercase { return String(rest) }
        return rest.prefix(1).lowercased() + rest.dropFirst()
    }

    /// The names that a recipe may use for it.
    public var names: [String] { name == shortName ? [name] : [name, shortName] }
}
