/// One step of a recipe: a filter of the catalogue with a value for each of its parameters.
public struct Filter: Sendable, Equatable {
    /// The filter's name in Core Image.
    public let name: String
    /// Every parameter by its full name (`inputIntensity`), defaults filled in.
    public let parameters: [String: FilterValue]
    /// The meaning of its lengths and places: pixels for a filter that has none.
    public let units: Units

    /// Creates a checked filter.
    ///
    /// - Parameters:
    ///   - given: parameters by full or short name; missing ones have their defaults.
    ///   - units: what its lengths and places count.
    ///   - path: the path of the filter, for errors.
    /// - Throws: `unknownFilter`, `unknownParameter`, `missingField`, `parameterOutOfRange`, or `invalidValue`, also if a parameter
    ///   is given by both its names.
    public init(
        _ name: String, _ given: [String: FilterValue] = [:], in units: Units = .pixels,
        at path: String = "filter"
    ) throws(Failure) {
        let definition = try FilterCatalogue.known(name, at: "\(path).name")
        try self.init(definition, given, in: units, at: path) {
            parameter, value, path throws(Failure) in
            try parameter.checked(value, of: name, in: units, at: path)
        }
    }

    /// Creates a filter from values of some form, which `read` checks.
    init<Value>(
        _ definition: FilterDefinition, _ given: [String: Value], in units: Units, at path: String,
        _ read: (ParameterDefinition, Value, String) throws(Failure) -> FilterValue
    ) throws(Failure) {
        // Names are checked before values: for a misspelt name, an error about its value's type does not help.
        let known = Set(definition.parameters.flatMap(\.names))
        if let unknown = given.keys.filter({ !known.contains($0) }).min() {
            throw Self.unknownParameter(unknown, of: definition, at: path)
        }
        if units == .relative { try Self.checkTakesRelative(definition, at: path) }
        var values: [String: FilterValue] = [:]
        for parameter in definition.parameters {
            let names = parameter.names.filter { given[$0] != nil }
            guard names.count < 2 else {
                throw Failure(
                    .invalidValue,
                    "\(path) gives both \(parameter.names.joined(separator: " and ")), "
                        + "which are one parameter. Keep one of them.")
            }
            if let name = names.first, let value = given[name] {
                values[parameter.name] = try read(parameter, value, "\(path).\(name)")
            } else if units == .relative, parameter.hasLengths {
                throw Self.missingLength(parameter, of: definition, at: path)
            } else if let value = parameter.defaultValue {
                values[parameter.name] = value
            } else {
                throw Failure(
                    .missingField,
                    "\(path).\(parameter.name) is missing; \(definition.name) needs "
                        + "\(parameter.expectation) there.")
            }
        }
        name = definition.name
        parameters = values
        self.units = definition.hasLengths ? units : .pixels
    }

    static func unknownParameter(
        _ name: String, of definition: FilterDefinition, at path: String
    ) -> Failure {
        let known = definition.parameters.map(\.name).joined(separator: ", ")
        return Failure(
            .unknownParameter,
            "\(path).\(name) is not a parameter of \(definition.name); "
                + (known.isEmpty ? "it takes none." : "it takes \(known).")
                + (definition.elsewhere[name].map { " \($0)" } ?? ""))
    }

    /// Rejects a filter that cannot be a step of an edit.
    func checkIsStep(at path: String) throws(Failure) {
        guard !definition.isGenerator else {
            throw Failure(
                .invalidValue,
                "\(path) is \(name), which generates a picture and does not change a photo. Use it as a "
                    + "mask.")
        }
        if case .sized(let make) = definition.kernel { _ = try make(self, path) }
    }

    /// The number of filters, including those nested inside it.
    public var count: Int {
        parameters.values.reduce(1) { count, value in
            switch value {
            case .filters(let filters): filters.reduce(count) { $0 + $1.count }
            case .generator(let filter): count + filter.count
            default: count
            }
        }
    }

    public var definition: FilterDefinition {
        guard let definition = FilterCatalogue.definition(named: name) else {
            preconditionFailure("a Filter is only made with a name of the catalogue, not \(name)")
        }
        return definition
    }
}

// Typed access for the filter's own file: its definition guarantees the type of the value.
extension Filter {
    /// Returns a number, by its parameter's full name.
    public func number(_ parameter: String) -> Double {
        guard case .number(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a point, rectangle, colour, row or samples, by its parameter's full name.
    public func vector(_ parameter: String) -> [Double] {
        guard case .vector(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a word or a digest, by its parameter's full name.
    public func text(_ parameter: String) -> String {
        guard case .text(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns samples or the digest of a file of them, by its parameter's full name.
    public func table(_ parameter: String) -> FilterTable {
        switch value(parameter) {
        case .vector(let numbers): .inline(numbers)
        case .text(let digest): .file(digest)
        default: wrongKind(parameter)
        }
    }

    /// Returns a flag, by its parameter's full name.
    public func flag(_ parameter: String) -> Bool {
        guard case .flag(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a box, by its parameter's full name.
    public func box(_ parameter: String) -> Fit.Box {
        guard case .box(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a point in fractions, by its parameter's full name.
    public func focus(_ parameter: String) -> Focus {
        guard case .focus(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a chain, by its parameter's full name.
    public func filters(_ parameter: String) -> [Filter] {
        guard case .filters(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a filter that makes a picture, by its parameter's full name.
    public func generator(_ parameter: String) -> Filter {
        guard case .generator(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    private func value(_ parameter: String) -> FilterValue {
        guard let value = parameters[parameter] else { wrongKind(parameter) }
        return value
    }

    private func wrongKind(_ parameter: String) -> Never {
        preconditionFailure("\(name) has no parameter \(parameter) of that kind")
    }
}

extension Filter: CustomStringConvertible {
    /// The filter in the form for the command line: `CISepiaTone:inputIntensity=0.8`.
    public var description: String {
        let values = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return values.isEmpty ? name : name + ":" + values.joined(separator: ",")
    }
}

extension Filter {
    /// Parses a filter from the command line: `CISepiaTone:inputIntensity=0.8,…`.
    ///
    /// A value is JSON (`0.8`, `[150, 150]`, `true`) or a word (`clamp`, `#ff8000`). Commas inside brackets and braces belong to
    /// the value.
    ///
    /// CSS functions may also be written as in CSS: `css:sepia(0.8)`.
    ///
    /// - Throws: `invalidValue` for text of another form, and the errors of a filter in an edit.
    public init(
        text: String, in units: Units = .pixels, at path: String
    ) throws(Failure) {
        guard !CSSFunction.isForm(of: text) else {
            try self.init(CSSFunction.object(text, at: path), in: units, at: path)
            return
        }
        // The colon of `css:` belongs to the name.
        let prefix = text.hasPrefix(CSSFunction.prefix) ? CSSFunction.prefix : ""
        let parts = text.dropFirst(prefix.count).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var fields: [String: JSONValue] = ["name": .string(prefix + parts[0])]
        for pair in Self.pairs(parts.count > 1 ? parts[1] : "") {
            let sides = pair.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty else {
                throw Failure(
                    .invalidValue, "\(path): \(String(pair).debugDescription) is not key=value.")
            }
            let value = String(sides[1])
            let startsAsJSON = value.first.map { "-0123456789[{\"".contains($0) } ?? false
            if startsAsJSON || ["true", "false"].contains(value) {
                fields[String(sides[0])] = try JSONValue(parsing: value, as: "\(path).\(sides[0])")
            } else {
                fields[String(sides[0])] = .string(value)
            }
        }
        try self.init(.object(fields), in: units, at: path)
    }

    /// Splits at the commas that are not inside brackets.
    private static func pairs(_ text: Substring) -> [Substring] {
        var depth = 0
        return text.split { character in
            switch character {
            case "[", "{": depth += 1
            case "]", "}": depth -= 1
            default: break
            }
            return character == "," && depth == 0
        }
    }

    /// Reads one filter of an edit.
    ///
    /// - Parameter units: what its lengths count if it does not say.
    init(_ value: JSONValue, in units: Units, at path: String) throws(Failure) {
        if case .string(let text) = value {
            try self.init(CSSFunction.object(text, at: path), in: units, at: path)
            return
        }
        guard case .object(var fields) = value else {
            throw Failure(
                .invalidValue,
                "\(path) is \(value.kind); expected an object such as "
                    + #"{"name": "CISepiaTone", "inputIntensity": 0.8}, or a CSS function such as "#
                    + #""css:sepia(0.8)"."#)
        }
        guard let name = fields.removeValue(forKey: "name") else {
            throw Failure(
                .missingField,
                "\(path).name is missing; it names the filter, such as \"CISepiaTone\".")
        }
        guard case .string(let name) = name else {
            throw Failure(.invalidValue, "\(path).name is \(name.kind); expected a string.")
        }
        let own = try fields.removeValue(forKey: "units").map { value throws(Failure) in
            try Units(value, at: "\(path).units")
        }
        let units = own ?? units
        try self.init(
            try FilterCatalogue.known(name, at: "\(path).name"), fields, in: units, at: path
        ) { parameter, value, path throws(Failure) in
            try parameter.value(value, of: name, in: units, at: path)
        }
    }

    /// The JSON, with every parameter by its full name, and units if they are not pixels.
    var json: JSONValue {
        // No filter has lengths and inner filters, so an inner one never takes its units from it.
        var fields = parameters.mapValues(\.json)
        fields["name"] = .string(name)
        if units == .relative { fields["units"] = .string(units.rawValue) }
        return .object(fields)
    }
}

extension Filter: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder), in: .pixels, at: "filter")
    }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension Filter {
    /// Whether every parameter with a neutral value has that value.
    public var changesNothing: Bool {
        let telling = definition.parameters.filter { $0.identity != nil }
        return !telling.isEmpty && telling.allSatisfy { parameters[$0.name] == $0.identity }
    }

    /// Returns the filter for a small copy that is only viewed.
    ///
    /// - Parameters:
    ///   - copy: the size of the copy.
    ///   - full: the size of the picture whose pixels its lengths and coordinates count.
    public func shown(on copy: PixelSize, of full: PixelSize) throws(Failure) -> Filter {
        let scale = PhotoScale(preview: full, photo: copy, isPreview: true)
        return try inPixels(
            StepPlace(photo: copy, scale: scale), at: "\(name) scaled from \(full) to \(copy)")
    }
}

/// The factors for lengths and coordinates from a preview to the full photo.
///
/// The aspects of preview and photo may differ by a rounded pixel. So coordinates are scaled with their own side, and lengths with the
/// mean of both: √(photo pixels / preview pixels).
struct PhotoScale {
    let preview: PixelSize
    let photo: PixelSize
    /// Whether the copy is only viewed. A length that leaves its range is then clamped, since a small copy cannot show it better.
    var isPreview = false

    /// The factors after a quarter turn.
    var turned: PhotoScale {
        PhotoScale(
            preview: Orientation.right.size(of: preview), photo: Orientation.right.size(of: photo),
            isPreview: isPreview)
    }

    func scaled(
        _ number: Double, of unit: ParameterDefinition.Unit, in range: ClosedRange<Double>
    ) -> Double {
        let scaled = number * factor(of: unit)
        return isPreview ? min(max(scaled, range.lowerBound), range.upperBound) : scaled
    }

    private func factor(of unit: ParameterDefinition.Unit) -> Double {
        switch unit {
        case .pixels, .pixelsPerPixel: (Double(photo.pixels) / Double(preview.pixels)).squareRoot()
        case .x: Double(photo.width) / Double(preview.width)
        case .y: Double(photo.height) / Double(preview.height)
        case .factor, .radians, .degrees, .stops, .kelvin, .count: 1
        }
    }
}

/// The text form of filters in web editors: `css:sepia(0.8)`, as CSS writes the function.
///
/// The single argument is the filter's first parameter: a number, `80%`, an angle (`90deg`, `100grad`, `1.57rad`, `0.25turn`, or 0)
/// or a length (`4px`, or 0). Without it, the parameter has its default. It is another spelling of the object that is stored:
/// `{"name": "css:sepia", "amount": 0.8}`.
enum CSSFunction {
    static let prefix = "css:"
    /// Longest text: a name, and a number with more digits than a Double has.
    static let lengthMax = 64

    /// The factor of each unit: degrees (CSS Values and Units 4, section 7.1), or multiples of a plain number.
    private static let units: [ParameterDefinition.Unit: [String: Double]] = [
        .factor: ["": 1, "%": 0.01],
        .degrees: ["deg": 1, "grad": 0.9, "rad": 180 / .pi, "turn": 360],
        .pixels: ["px": 1],
    ]

    /// Whether a text has this form. Other texts may have the form `name:key=value`.
    static func isForm(of text: String) -> Bool {
        text.hasPrefix(prefix) && text.contains("(")
    }

    /// Returns the object for the text.
    ///
    /// - Throws: `invalidValue` for text of another form, `unknownFilter` for a function that is not in the catalogue.
    static func object(_ text: String, at path: String) throws(Failure) -> JSONValue {
        guard isForm(of: text), text.hasSuffix(")"), text.utf8.count <= lengthMax,
            let bracket = text.firstIndex(of: "(")
        else {
            throw Failure(
                .invalidValue,
                "\(path) is \(String(text.prefix(lengthMax)).debugDescription); expected an object such as "
                    + #"{"name": "CISepiaTone", "inputIntensity": 0.8}, or a CSS function such as "#
                    + #""css:sepia(0.8)"."#)
        }
        let name = String(text[..<bracket])
        let definition = try FilterCatalogue.known(name, at: path)
        let argument = text[text.index(after: bracket)...].dropLast()
        var fields: [String: JSONValue] = ["name": .string(name)]
        let tokens = argument.split(separator: " ")
        if let token = tokens.first {
            guard tokens.count == 1, let parameter = definition.parameters.first,
                let number = number(token, of: parameter)
            else {
                throw Failure(
                    .invalidValue,
                    "\(path): \(name) does not take \(String(argument).debugDescription); expected "
                        + "\(expectation(of: definition)).")
            }
            fields[parameter.name] = .number(number)
            // The text itself says what its number counts.
            if parameter.hasLengths { fields["units"] = .string(Units.pixels.rawValue) }
        }
        return .object(fields)
    }

    private static func units(of definition: FilterDefinition) -> [String: Double]? {
        guard case .number(_, let unit)? = definition.parameters.first?.kind else { return nil }
        return units[unit]
    }

    private static func number(_ token: Substring, of parameter: ParameterDefinition) -> Double? {
        guard case .number(_, let unit) = parameter.kind, let factors = units[unit] else {
            return nil
        }
        // A number in CSS syntax: Double accepts more, such as hexadecimal numbers.
        let digits = token.prefix { "+-.0123456789".contains($0) }
        guard digits.last != ".", let number = Double(digits) else { return nil }
        let suffix = String(token.dropFirst(digits.count))
        if suffix.isEmpty, number == 0 { return 0 }
        return factors[suffix].map { number * $0 }
    }

    private static func expectation(of definition: FilterDefinition) -> String {
        guard let factors = units(of: definition) else { return "name and parameters as an object" }
        return factors.keys.sorted().map { $0.isEmpty ? "a number" : "a number and \($0)" }
            .joined(separator: ", or ")
    }

    /// A regular expression (ECMA 262) for texts of this form, without the ranges of the numbers.
    static var pattern: String {
        let forms = FilterCatalogue.all.compactMap { filter -> String? in
            guard filter.name.hasPrefix(prefix), let factors = units(of: filter) else { return nil }
            let suffixes = factors.keys.sorted().joined(separator: "|")
            let number = "[+-]?([0-9]+|[0-9]*\\.[0-9]+)"
            let zero = "[+-]?(0+|0*\\.0+)"
            return filter.name.dropFirst(prefix.count)
                + "\\( *(\(number)(\(suffixes))|\(zero))? *\\)"
        }
        return "^\(prefix)(" + forms.joined(separator: "|") + ")$"
    }
}
