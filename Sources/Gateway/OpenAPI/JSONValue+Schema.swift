import Adjustments

/// Words of JSON Schema that routes are described with.
extension JSONValue {
    /// Any value.
    static let anything = JSONValue.object([:])
    /// Any text.
    static let text = JSONValue.object(["type": .string("string")])
    /// A whole number.
    static func integer(_ range: ClosedRange<Int>) -> JSONValue {
        .object([
            "type": .string("integer"), "minimum": .number(Double(range.lowerBound)),
            "maximum": .number(Double(range.upperBound)),
        ])
    }
    /// True or false.
    static let flag = JSONValue.object(["type": .string("boolean")])
    /// One of several words.
    static func choice(_ words: [String]) -> JSONValue {
        .object(["type": .string("string"), "enum": .array(words.map(JSONValue.string))])
    }
    /// A text of limited length.
    static func text(_ length: ClosedRange<Int>, pattern: String? = nil) -> JSONValue {
        var fields: [String: JSONValue] = [
            "type": .string("string"), "minLength": .number(Double(length.lowerBound)),
            "maxLength": .number(Double(length.upperBound)),
        ]
        if let pattern { fields["pattern"] = .string(pattern) }
        return .object(fields)
    }
    /// A list.
    static func list(_ element: JSONValue, max: Int? = nil) -> JSONValue {
        var fields: [String: JSONValue] = ["type": .string("array"), "items": element]
        if let max { fields["maxItems"] = .number(Double(max)) }
        return .object(fields)
    }
    /// An object of named fields; nothing else may be in it when it is sent to the gateway.
    static func fields(
        _ fields: [String: JSONValue], required: [String] = [], isClosed: Bool = false
    ) -> JSONValue {
        var schema: [String: JSONValue] = [
            "type": .string("object"), "properties": .object(fields),
        ]
        if !required.isEmpty { schema["required"] = .array(required.map(JSONValue.string)) }
        if isClosed { schema["additionalProperties"] = .bool(false) }
        return .object(schema)
    }
    /// A schema of the document's own list.
    static func schema(_ name: String) -> JSONValue {
        .object(["$ref": .string("#/components/schemas/\(name)")])
    }
}
