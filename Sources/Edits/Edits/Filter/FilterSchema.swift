/// The JSON Schema of the filters, made from the catalogue: `jobs/filters.schema.json`.
///
/// `minilab filters --schema` prints it, `ops/generate` writes the file, and a test compares both, so that the schema cannot differ
/// from the decoder.
public enum FilterSchema {
    /// The whole schema: one filter of an edit.
    public static var json: JSONValue {
        let filters = FilterCatalogue.all.filter { !$0.isGenerator }
        let generators = FilterCatalogue.all.filter(\.isGenerator)
        var definitions: [String: JSONValue] = ["generator": choice(of: generators)]
        for filter in FilterCatalogue.all { definitions[filter.name] = schema(of: filter) }
        definitions["filter"] = choice(of: filters)
        // A condition, so that a validator's error about an object does not also mention texts.
        return JSONValue.object([
            "if": .object(["type": "string"]), "then": cssFunction,
            "else": .object(["$ref": "#/$defs/filter"]),
        ]).adding([
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Filter",
            "description": """
            One step of an edit, named as Core Image names it. Each parameter may be spelled as Core Image's \
            key (`inputIntensity`) or as its Swift property (`intensity`), but not both. A CSS function may be \
            written as text, as CSS does.
            """,
            "$comment": "Made by ops/generate from the catalogue of filters; do not edit.",
            "$defs": .object(definitions),
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

    private static func schema(of filter: FilterDefinition) -> JSONValue {
        var properties: [String: JSONValue] = [
            "name": .object(["const": .string(filter.name)])
        ]
        var rules: [JSONValue] = []
        for parameter in filter.parameters {
            for name in parameter.names { properties[name] = schema(of: parameter) }
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
            if parameter.defaultValue == nil { rules.append(.object(["anyOf": .array(required)])) }
        }
        var schema: [String: JSONValue] = [
            "title": .string(filter.name), "description": .string(filter.summary),
            "type": "object", "additionalProperties": false,
            "properties": .object(properties),
        ]
        if !rules.isEmpty { schema["allOf"] = .array(rules) }
        return .object(schema)
    }

    private static func schema(of parameter: ParameterDefinition) -> JSONValue {
        var schema: [String: JSONValue] = [
            "title": .string(parameter.shortName), "description": .string(parameter.summary),
        ]
        if let value = parameter.defaultValue { schema["default"] = value.json }
        return parameter.kind.schema.adding(schema)
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

    fileprivate var schema: JSONValue {
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
        case .number(let range, _): return number(range)
        case .vector(let range, let units):
            return array(number(range), units.count...units.count)
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
