extension Recipe {
    /// Steps and output for people, a line each: places and parameters as an amendment names them.
    public var words: [String] {
        var lines: [String] = []
        for (index, filter) in filters.enumerated() {
            lines.append("\(index)  \(filter.name)")
            lines += filter.words.map { "     \($0)" }
        }
        if filters.isEmpty { lines.append("no steps: the photo is only written anew") }
        lines.append("output  \(output.words)")
        return lines
    }
}

extension Filter {
    /// Longest value in characters: a table of colours has thousands of numbers.
    static let valueLengthMax = 160

    /// The parameters for people, with what they count: `inputRadius 12 pixels`.
    public var words: [String] {
        definition.parameters.compactMap { parameter in
            parameters[parameter.name].map { value in
                let unit = parameter.kind.unitWords
                return parameter.name + " " + value.words + (unit.isEmpty ? "" : " " + unit)
            }
        }
    }
}

extension FilterValue {
    /// As JSON, cut where it is long.
    fileprivate var words: String { json.words }
}

extension JSONValue {
    /// The value for people: as an amendment writes it, cut where it is long.
    public var words: String {
        let text = canonical
        guard text.count > Filter.valueLengthMax else { return text }
        return String(text.prefix(Filter.valueLengthMax)) + "…"
    }
}

extension Recipe.Output {
    /// What differs from the defaults, for people.
    public var words: String {
        guard case .object(let fields) = json, case .object(let defaults) = Self().json else {
            return json.canonical
        }
        let own = fields.filter { defaults[$0.key] != $0.value }.sorted { $0.key < $1.key }
        return own.isEmpty
            ? "defaults" : own.map { "\($0.key) \($0.value.words)" }.joined(separator: ", ")
    }
}

extension ParameterDefinition.Kind {
    /// What its numbers count, where that is more than a factor.
    fileprivate var unitWords: String {
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
