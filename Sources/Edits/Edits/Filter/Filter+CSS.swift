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
