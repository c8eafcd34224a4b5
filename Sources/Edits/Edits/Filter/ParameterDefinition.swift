/// One parameter of a filter.
public struct ParameterDefinition: Sendable {
    /// The parameter's name in Core Image, such as `inputIntensity`.
    public let name: String
    /// One sentence: the effect of the parameter.
    public let summary: String
    /// The allowed values.
    public let kind: Kind
    /// The value if a recipe has none; nil if the parameter is required.
    public let defaultValue: FilterValue?
    /// The neutral value, which changes nothing, if there is one.
    public let identity: FilterValue?

    /// The kinds of values.
    public enum Kind: Sendable {
        /// A number; values outside the range are rejected.
        case number(ClosedRange<Double>, Unit)
        /// One number per unit, each in the range: a point, a rectangle, a row of a matrix.
        case vector(ClosedRange<Double>, [Unit])
        /// Red, green, blue and optionally alpha, sRGB-encoded 0 to 1, or `"#rrggbb"`; stored with alpha.
        case color
        /// A list of numbers with a length within `count` that is a multiple of `groups`.
        case samples(ClosedRange<Double>, count: ClosedRange<Int>, groups: Int)
        /// Such a list, or the digest of a file with its numbers as little-endian 32-bit floats.
        case table(ClosedRange<Double>, count: ClosedRange<Int>, groups: Int)
        /// One of some choices.
        case choice([String])
        /// Yes or no.
        case flag
        /// A file beside the photos, such as a colour table or a mask, by the digest of its content: `"sha256:"` and 64 hexadecimal
        /// digits.
        case resource
        /// A list of filters.
        case filters
        /// One filter that makes a picture of its own, such as a gradient.
        case generator
    }

    /// The unit of a number.
    public enum Unit: String, Sendable {
        /// A plain factor.
        case factor
        /// A length in pixels of the photo on which the edit was made: scales with the photo.
        case pixels
        /// A position from the left, in such pixels.
        case x
        /// A position from the bottom, in such pixels.
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

    /// A point in the photo, in pixels from the bottom left; it may lie outside.
    public static func point(
        _ name: String, _ summary: String, default defaultValue: [Double]?
    ) -> Self {
        vector(name, summary, default: defaultValue, coordinateRange, [.x, .y])
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

    /// One of some choices, the first of which is the default.
    public static func choice(_ name: String, _ summary: String, _ choices: [String]) -> Self {
        Self(
            name: name, summary: summary, kind: .choice(choices),
            defaultValue: choices.first.map(FilterValue.text))
    }

    /// The range of positions, ten million pixels: far outside of any photo, and exact in a Float, like its integers.
    public static let coordinateRange = -1e7...1e7

    /// The short name, which is also accepted: `inputIntensity` → `intensity`, as in Core Image's typed Swift interface.
    public var shortName: String {
        guard name.hasPrefix("input") else { return name }
        let rest = name.dropFirst("input".count)
        let second = rest.dropFirst().first
        // `inputRVector` → `RVector`, `inputEV` → `ev`, the spelling of Core Image's own names.
        if rest.allSatisfy(\.isUppercase) { return rest.lowercased() }
        if let second, second.isUppercase { return String(rest) }
        return rest.prefix(1).lowercased() + rest.dropFirst()
    }

    /// The names that a recipe may use for it.
    public var names: [String] { name == shortName ? [name] : [name, shortName] }
}
