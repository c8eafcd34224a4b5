extension Recipe {
    /// Steps and output as text, a line each, with the indices and parameter names of amendments.
    public var lines: [String] {
        var lines: [String] = []
        for (index, filter) in filters.enumerated() {
            lines.append("\(index)  \(filter.name)")
            lines += filter.parameterLines.map { "     \($0)" }
        }
        if filters.isEmpty { lines.append("no steps: the photo is only encoded again") }
        lines.append("output  \(output.text)")
        return lines
    }
}

extension Filter {
    /// Longest value in characters: a colour table has thousands of numbers.
    static let valueLengthMax = 160

    /// The parameters as text, with their units: `inputRadius 12 pixels`.
    public var parameterLines: [String] {
        definition.parameters.compactMap { parameter in
            parameters[parameter.name].map { value in
                let unit = parameter.kind.unitText
                return parameter.name + " " + value.text + (unit.isEmpty ? "" : " " + unit)
            }
        }
    }
}

extension FilterValue {
    /// The value as JSON, truncated if it is long.
    fileprivate var text: String { json.text }
}

extension JSONValue {
    /// The value as text in the form of an amendment, truncated if it is long.
    public var text: String {
        let text = canonical
        guard text.count > Filter.valueLengthMax else { return text }
        return String(text.prefix(Filter.valueLengthMax)) + "…"
    }
}

extension Recipe.Output {
    /// The differences from the defaults, as text.
    public var text: String {
        guard case .object(let fields) = json, case .object(let defaults) = Self().json else {
            return json.canonical
        }
        let own = fields.filter { defaults[$0.key] != $0.value }.sorted { $0.key < $1.key }
        return own.isEmpty
            ? "defaults" : own.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
    }
}

extension ParameterDefinition.Kind {
    /// The unit of its numbers, unless they are plain factors.
    fileprivate var unitText: String {
        switch self {
        case .number(_, let unit): unit == .factor ? "" : unit.rawValue
        case .vector(_, let units):
            units.allSatisfy { $0 == .factor }
                ? "" : "(\(units.map(\.rawValue).joined(separator: ", ")))"
        case .color: "(red, green, blue, alpha)"
        case .samples, .table, .choice, .flag, .resource, .filters, .generator: ""
        }
    }
}
