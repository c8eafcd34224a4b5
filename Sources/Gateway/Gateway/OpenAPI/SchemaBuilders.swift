import Edits

/// Builders of the JSON Schemas that describe routes.
extension JSONValue {
    static let anything = JSONValue.object([:])
    static let text = JSONValue.object(["type": .string("string")])
    static func integer(_ range: ClosedRange<Int>) -> JSONValue {
        .object([
            "type": .string("integer"), "minimum": .number(Double(range.lowerBound)),
            "maximum": .number(Double(range.upperBound)),
        ])
    }
    static let flag = JSONValue.object(["type": .string("boolean")])
    static func choice(_ values: [String]) -> JSONValue {
        .object(["type": .string("string"), "enum": .array(values.map(JSONValue.string))])
    }
    static func text(_ length: ClosedRange<Int>, pattern: String? = nil) -> JSONValue {
        var fields: [String: JSONValue] = [
            "type": .string("string"), "minLength": .number(Double(length.lowerBound)),
            "maxLength": .number(Double(length.upperBound)),
        ]
        if let pattern { fields["pattern"] = .string(pattern) }
        return .object(fields)
    }
    static func list(_ element: JSONValue, max: Int? = nil) -> JSONValue {
        var fields: [String: JSONValue] = ["type": .string("array"), "items": element]
        if let max { fields["maxItems"] = .number(Double(max)) }
        return .object(fields)
    }
    /// Returns the schema of an object with named fields.
    ///
    /// - Parameters:
    ///   - fields: the schemas by name; a name that ends in `?` is that of an optional field.
    ///   - required: the required ones, where the names do not say it.
    ///   - isClosed: whether other fields are forbidden, as in requests.
    static func fields(
        _ fields: [String: JSONValue], required: [String]? = nil, isClosed: Bool = false
    ) -> JSONValue {
        let required = required ?? fields.keys.filter { !$0.hasSuffix("?") }.sorted()
        let properties = fields.map { name, schema in
            (name.hasSuffix("?") ? String(name.dropLast()) : name, schema)
        }
        var schema: [String: JSONValue] = [
            "type": .string("object"),
            "properties": .object(Dictionary(uniqueKeysWithValues: properties)),
        ]
        if !required.isEmpty { schema["required"] = .array(required.map(JSONValue.string)) }
        if isClosed { schema["additionalProperties"] = .bool(false) }
        return .object(schema)
    }
    /// Returns the schema of an object with arbitrary names and with values of one schema.
    static func map(_ element: JSONValue) -> JSONValue {
        .object(["type": .string("object"), "additionalProperties": element])
    }
    static let decimal = JSONValue.object(["type": .string("number")])
    /// A whole number of at least 0.
    static let count = integer(0...1 << 53)
    /// A time in ms since 1970, up to the year 9999.
    static let moment = integer(0...253_402_300_799_999)
    /// A time as RFC 3339 in UTC.
    static let time = text(20...30, pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$")
    /// Returns a schema that also allows null.
    static func orNull(_ schema: JSONValue) -> JSONValue {
        .object(["anyOf": .array([schema, .object(["type": .string("null")])])])
    }
    /// Returns the schema of a value of any of these schemas.
    static func any(_ schemas: JSONValue...) -> JSONValue {
        .object(["anyOf": .array(schemas)])
    }
    /// Returns a reference to a schema of the document.
    static func schema(_ name: String) -> JSONValue {
        .object(["$ref": .string("#/components/schemas/\(name)")])
    }
}
