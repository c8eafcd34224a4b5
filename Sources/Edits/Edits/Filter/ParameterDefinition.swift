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
        case choice([String])
        /// Yes or no.
        case flag
        /// A file beside the photos, such as a colour table or a mask, by the digest of its content: `"sha256:"` and 64 hexadecimal
        /// digits.
        case resource
        case filters
        /// One filter that makes a picture of its own, such as a gradient.
        case generator
        /// Width and height in whole pixels, one of which may be null.
        case box
        /// A point in fractions of the picture's sides, or the name of one, such as `north`; stored as fractions.
        case focus
    }

    public enum Unit: String, Sendable {
        case factor
        /// A length in pixels of the photo on which the edit was made: scales with the photo.
        case pixels
        /// Such pixels for one of another picture: scales with the photo, and is a part of nothing.
        case pixelsPerPixel = "pixels per pixel"
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
        case count
    }

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
    public var names: [String] {
        if case .focus = kind { return [name, "at"] }
        return name == shortName ? [name] : [name, shortName]
    }
}

extension ParameterDefinition {
    /// Reads a value from JSON and checks it.
    ///
    /// - Parameters:
    ///   - units: what its lengths count, and those of filters within it that do not say.
    ///   - path: the path of the value, for errors.
    /// - Throws: `invalidValue` for another type, and the errors of ``checked(_:of:in:at:)``.
    func value(
        _ json: JSONValue, of filter: String, in units: Units, at path: String
    ) throws(Failure) -> FilterValue {
        switch (kind, json) {
        case (.number, .number(let number)):
            return try checked(.number(number), of: filter, in: units, at: path)
        case (.vector, .array(let values)), (.samples, .array(let values)),
            (.table, .array(let values)), (.color, .array(let values)):
            var numbers: [Double] = []
            numbers.reserveCapacity(values.count)
            for (index, value) in values.enumerated() {
                guard case .number(let number) = value else {
                    throw Failure(
                        .invalidValue, "\(path)[\(index)] is \(value.kind); expected a number.")
                }
                numbers.append(number)
            }
            return try checked(.vector(numbers), of: filter, in: units, at: path)
        case (.color, .string(let text)):
            return try checked(.text(text), of: filter, at: path)
        case (.choice, .string(let text)), (.resource, .string(let text)),
            (.table, .string(let text)):
            return try checked(.text(text), of: filter, at: path)
        case (.flag, .bool(let flag)):
            return .flag(flag)
        case (.filters, .array(let values)):
            var filters: [Filter] = []
            for (index, value) in values.enumerated() {
                filters.append(try Filter(value, in: units, at: "\(path)[\(index)]"))
            }
            return try checked(.filters(filters), of: filter, at: path)
        case (.generator, .object):
            return try checked(
                .generator(try Filter(json, in: units, at: path)), of: filter, at: path)
        case (.box, .array):
            return .box(try Fit.Box(json, at: path))
        case (.focus, .array), (.focus, .string):
            guard let focus = Focus(json) else { throw wrong(json, at: path) }
            return .focus(focus)
        default:
            throw Failure(
                .invalidValue, "\(path) is \(json.kind); expected \(expectation).")
        }
    }

    /// Checks a value, and normalises a colour to `[r, g, b, a]`.
    ///
    /// - Parameter units: what its lengths count.
    /// - Throws: `parameterOutOfRange`, or `invalidValue` for a value of another kind.
    func checked(
        _ value: FilterValue, of filter: String, in units: Units = .pixels, at path: String
    ) throws(Failure) -> FilterValue {
        switch (kind, value) {
        case (.number(let range, let unit), .number(let number)):
            let range = unit.range(range, in: units)
            guard range.contains(number) else {
                throw Failure(
                    .parameterOutOfRange,
                    "\(path) is \(number); \(filter) takes "
                        + "\(range.lowerBound) to \(range.upperBound).")
            }
        case (.vector(let range, let parts), .vector(let numbers)):
            guard numbers.count == parts.count else { throw wrong(value, at: path) }
            try check(numbers, parts.map { $0.range(range, in: units) }, of: filter, at: path)
        case (.samples(let range, let count, let groups), .vector(let numbers)),
            (.table(let range, let count, let groups), .vector(let numbers)):
            guard count.contains(numbers.count), numbers.count.isMultiple(of: groups) else {
                throw Failure(
                    .invalidValue,
                    "\(path) has \(numbers.count) numbers; expected \(expectation).")
            }
            try check(numbers, range, of: filter, at: path)
        case (.color, .vector(let numbers)):
            guard (3...4).contains(numbers.count) else { throw wrong(value, at: path) }
            try check(numbers, 0...1, of: filter, at: path)
            return .vector(numbers.count == 3 ? numbers + [1] : numbers)
        case (.color, .text(let text)):
            guard let numbers = Self.hexColor(text) else { throw wrong(value, at: path) }
            return .vector(numbers)
        case (.choice(let choices), .text(let text)):
            guard choices.contains(text) else { throw wrong(value, at: path) }
        case (.resource, .text(let text)), (.table, .text(let text)):
            guard Self.isDigest(text) else { throw wrong(value, at: path) }
        case (.flag, .flag), (.box, .box), (.focus, .focus): break
        case (.filters, .filters(let filters)):
            guard (1...ContractLimits.filtersMax).contains(filters.count) else {
                throw Failure(
                    .oversizedField,
                    "\(path) has \(filters.count) filters; expected \(expectation).")
            }
            for (index, filter) in filters.enumerated() {
                try filter.checkIsStep(at: "\(path)[\(index)]")
            }
        case (.generator, .generator(let generator)):
            guard generator.definition.isGenerator else {
                throw Failure(
                    .invalidValue,
                    "\(path) is \(generator.name), which generates no picture.")
            }
        default:
            throw wrong(value, at: path)
        }
        return value
    }

    var expectation: String {
        switch kind {
        case .number: return "a number"
        case .vector(_, let units): return "an array of \(units.count) numbers"
        case .samples(_, let count, let groups):
            return "an array of \(count.text) numbers"
                + (groups > 1 ? ", a multiple of \(groups)" : "")
        case .color:
            return "a colour: [r, g, b], [r, g, b, a], each 0 to 1, or \"#rrggbb\""
        case .table(_, let count, let groups):
            return "an array of \(count.text) numbers"
                + (groups > 1 ? ", a multiple of \(groups)" : "")
                + ", or \"sha256:\" and 64 hexadecimal digits"
        case .choice(let choices):
            return "one of " + choices.map(\.debugDescription).joined(separator: ", ")
        case .flag: return "true or false"
        case .resource: return "\"sha256:\" and 64 hexadecimal digits"
        case .filters: return "an array of 1 to \(ContractLimits.filtersMax) filters"
        case .generator: return #"an object such as {"name": "CILinearGradient"}"#
        case .box:
            return "[width, height] in pixels, one of which may be null for a side that follows"
        case .focus:
            return "[x, y], fractions from 0 to 1 from the bottom left, or one of "
                + Focus.named.keys.sorted().joined(separator: ", ")
        }
    }

    private func wrong(_ value: FilterValue, at path: String) -> Failure {
        wrong(value.json, at: path)
    }

    private func wrong(_ json: JSONValue, at path: String) -> Failure {
        Failure(.invalidValue, "\(path) is \(json.canonical); expected \(expectation).")
    }

    private func check(
        _ numbers: [Double], _ range: ClosedRange<Double>, of filter: String, at path: String
    ) throws(Failure) {
        try check(numbers, numbers.map { _ in range }, of: filter, at: path)
    }

    private func check(
        _ numbers: [Double], _ ranges: [ClosedRange<Double>], of filter: String, at path: String
    ) throws(Failure) {
        for (index, (number, range)) in zip(numbers, ranges).enumerated()
        where !range.contains(number) {
            throw Failure(
                .parameterOutOfRange,
                "\(path)[\(index)] is \(number); \(filter) takes "
                    + "\(range.lowerBound) to \(range.upperBound).")
        }
    }

    private static func hexColor(_ text: String) -> [Double]? {
        let digits = text.dropFirst()
        guard text.hasPrefix("#"), text.utf8.count == 7,
            digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
            let code = Int(digits, radix: 16)
        else { return nil }
        return [16, 8, 0].map { Double(code >> $0 & 255) / 255 } + [1]
    }

    private static let digestPrefix = "sha256:"

    static func isDigest(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(digestPrefix.utf8.count)
        return text.hasPrefix(digestPrefix) && digits.count == 64
            && digits.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
