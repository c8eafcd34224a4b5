/// The JSON Schema of the filters, made from the catalogue: `jobs/filters.schema.json`, and `jobs/filters.relative.schema.json` for
/// those with relative units.
///
/// `minilab filters --schema` prints it, `ops/generate` writes the files, and a test compares both, so that the schema cannot differ
/// from the decoder.
public enum FilterSchema {
    /// The whole schema: one filter of an edit, whose lengths are in these units unless it says otherwise.
    public static func json(in units: Units) -> JSONValue {
        let all = FilterCatalogue.all.filter { units == .pixels || $0.takesRelative }
        var definitions: [String: JSONValue] = [
            "generator": unlessOther(units, "generator", choice(of: all.filter(\.isGenerator))),
            "filter": unlessOther(units, "filter", choice(of: all.filter { !$0.isGenerator })),
        ]
        for filter in all { definitions[filter.name] = schema(of: filter, in: units) }
        // A condition, so that a validator's error about an object does not also mention texts.
        return JSONValue.object([
            "if": .object(["type": "string"]), "then": cssFunction,
            "else": .object(["$ref": "#/$defs/filter"]),
        ]).adding([
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": units == .pixels ? "Filter" : "Filter with relative units",
            "description": units == .pixels
                ? """
                One step of an edit, named as Core Image names it. Each parameter may be spelled as Core Image's \
                key (`inputIntensity`) or as its Swift property (`intensity`), but not both. A CSS function may be \
                written as text, as CSS does.
                """
                : """
                One step of an edit whose lengths and places are parts of the picture that it gets: lengths of the \
                shorter side, places of width and height from the bottom left. None may be left out.
                """,
            "$comment": "Made by ops/generate from the catalogue of filters; do not edit.",
            "$defs": .object(definitions),
        ])
    }

    private static func file(of units: Units) -> String {
        units == .pixels ? "filters.schema.json" : "filters.relative.schema.json"
    }

    /// Returns a definition that leaves a filter with the other units to the other schema.
    private static func unlessOther(
        _ units: Units, _ name: String, _ schema: JSONValue
    ) -> JSONValue {
        let other: Units = units == .pixels ? .relative : .pixels
        return .object([
            "if": .object([
                "type": "object", "required": ["units"],
                "properties": .object(["units": .object(["const": .string(other.rawValue)])]),
            ]),
            "then": .object(["$ref": .string("\(file(of: other))#/$defs/\(name)")]),
            "else": schema,
        ])
    }

    private static func schema(of units: Units) -> JSONValue {
        .object([
            "title": "Units",
            "description":
                "What lengths and places count: pixels of the photo, or parts of the picture that the filter gets.",
            "const": .string(units.rawValue),
        ])
    }

    private static let cssFunction: JSONValue = .object([
        "title": "CSS function",
        "description":
            "Another spelling of the object. The number\u{2019}s limits are those of the object.",
        "type": "string", "maxLength": .number(Double(CSSFunction.lengthMax)),
        "pattern": .string(CSSFunction.pattern),
        "examples": ["css:sepia(0.8)", "css:hue-rotate(90deg)"],
    ])

    /// Returns a choice of filters, with a condition for each, so that a validator's error concerns the intended filter.
    private static func choice(of filters: [FilterDefinition]) -> JSONValue {
        .object([
            "type": "object", "required": ["name"],
            "properties": .object([
                "name": .object([
                    "title": "Name", "description": "Which filter it is.",
                    "enum": .array(filters.map { .string($0.name) }),
                ])
            ]),
            "allOf": .array(
                filters.map { filter in
                    .object([
                        "if": .object([
                            "properties": .object([
                                "name": .object(["const": .string(filter.name)])
                            ]),
                            "required": ["name"],
                        ]),
                        "then": .object(["$ref": .string("#/$defs/\(filter.name)")]),
                    ])
                }),
        ])
    }

    private static func schema(of filter: FilterDefinition, in units: Units) -> JSONValue {
        var properties: [String: JSONValue] = [
            "name": .object(["const": .string(filter.name)]), "units": schema(of: units),
        ]
        var rules = filter.schemaRules
        for parameter in filter.parameters {
            let isNeeded =
                parameter.defaultValue == nil || units == .relative && parameter.hasLengths
            for name in parameter.names {
                properties[name] = schema(of: parameter, isNeeded: isNeeded, in: units)
            }
            let required = parameter.names.map { name -> JSONValue in
                .object(["required": .array([.string(name)])])
            }
            if parameter.names.count > 1 {
                rules.append(
                    .object([
                        "not": .object([
                            "required": .array(parameter.names.map(JSONValue.string))
                        ])
                    ]))
            }
            if isNeeded { rules.append(.object(["anyOf": .array(required)])) }
        }
        var schema: [String: JSONValue] = [
            "title": .string(filter.name), "description": .string(filter.summary),
            "type": "object", "additionalProperties": false,
            "properties": .object(properties),
        ]
        if !rules.isEmpty { schema["allOf"] = .array(rules) }
        return .object(schema)
    }

    private static func schema(
        of parameter: ParameterDefinition, isNeeded: Bool, in units: Units
    ) -> JSONValue {
        var schema: [String: JSONValue] = [
            "title": .string(parameter.shortName), "description": .string(parameter.summary),
        ]
        if let value = parameter.defaultValue, !isNeeded { schema["default"] = value.json }
        return parameter.kind.schema(in: units).adding(schema)
    }
}

extension FilterDefinition {
    /// Whether it makes a picture of its own, and cannot be a step of an edit.
    public var isGenerator: Bool {
        if case .generator = kernel { true } else { false }
    }
}

extension ParameterDefinition.Kind {
    private static let digest: JSONValue = .object([
        "type": "string", "pattern": "^sha256:[0-9a-f]{64}$", "maxLength": 71,
    ])

    fileprivate func schema(in units: Units) -> JSONValue {
        func number(_ range: ClosedRange<Double>) -> JSONValue {
            .object([
                "type": "number", "minimum": .number(range.lowerBound),
                "maximum": .number(range.upperBound),
            ])
        }
        func array(_ items: JSONValue, _ count: ClosedRange<Int>) -> JSONValue {
            .object([
                "type": "array", "items": items, "minItems": .number(Double(count.lowerBound)),
                "maxItems": .number(Double(count.upperBound)),
            ])
        }
        switch self {
        case .number(let range, let unit): return number(unit.range(range, in: units))
        case .vector(let range, let parts):
            let ranges = parts.map { $0.range(range, in: units) }
            let count = parts.count...parts.count
            if parts.allSatisfy({ $0 == .count }) {
                return array(number(range).adding(["type": "integer"]), count)
            }
            guard Set(ranges).count > 1 else { return array(number(ranges[0]), count) }
            return .object([
                "type": "array", "prefixItems": .array(ranges.map(number)), "items": false,
                "minItems": .number(Double(parts.count)),
            ])
        case .color:
            let hex: JSONValue = .object([
                "type": "string", "pattern": "^#[0-9A-Fa-f]{6}$", "maxLength": 7,
            ])
            return .object(["anyOf": .array([array(number(0...1), 3...4), hex])])
        case .samples(let range, let count, _): return array(number(range), count)
        case .table(let range, let count, _):
            return .object(["anyOf": .array([array(number(range), count), Self.digest])])
        case .choice(let choices): return .object(["enum": .array(choices.map(JSONValue.string))])
        case .flag: return .object(["type": "boolean"])
        case .resource: return Self.digest
        case .filters:
            return array(.object(["$ref": "#"]), 1...ContractLimits.filtersMax)
        case .generator: return .object(["$ref": "#/$defs/generator"])
        case .box:
            let sides = ContractLimits.boxSideRange
            let side: JSONValue = .object([
                "type": ["integer", "null"], "minimum": .number(Double(sides.lowerBound)),
                "maximum": .number(Double(sides.upperBound)),
            ])
            return array(side, 2...2).adding(["not": .object(["const": [.null, .null]])])
        case .focus:
            let names = Focus.named.keys.sorted().map(JSONValue.string)
            return .object([
                "anyOf": .array([array(number(0...1), 2...2), .object(["enum": .array(names)])])
            ])
        }
    }
}

extension JSONValue {
    /// Returns the object with additional fields.
    fileprivate func adding(_ more: [String: JSONValue]) -> JSONValue {
        guard case .object(let fields) = self else { return self }
        return .object(fields.merging(more) { _, new in new })
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
