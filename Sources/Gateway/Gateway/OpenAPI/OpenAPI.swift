import AccessKeys
package import Edits
import HTTPTypes
import RenderProtocol

/// The generator of the OpenAPI 3.1 document of routes.
package enum OpenAPI {
    /// - Parameter schemas: the schemas to which routes refer, by name.
    package static func document(_ routes: [Route], schemas: [String: JSONValue]) -> JSONValue {
        var paths: [String: [String: JSONValue]] = [:]
        for route in routes {
            paths[path(route), default: [:]][route.method.rawValue.lowercased()] = operation(route)
        }
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("Minilab"), "version": .string(Engine.version),
                "description": .string(
                    "Photo edits in bulk: jobs and batches of edits, their events, originals and what became of "
                        + "them. Times are RFC 3339 in UTC or ms since 1970. Problems are RFC 9457 with a closed code."
                ),
                "license": .object([
                    "name": .string("Apache-2.0"), "identifier": .string("Apache-2.0"),
                ]),
            ]),
            "servers": .array([.object(["url": .string("/")])]),
            "paths": .object(paths.mapValues { .object($0) }),
            "components": .object([
                "schemas": .object(schemas),
                "securitySchemes": .object([
                    "key": .object([
                        "type": .string("http"), "scheme": .string("bearer"),
                        "description": .string("A key made by minilab key create."),
                    ])
                ]),
            ]),
        ])
    }

    /// Returns a route's path. OpenAPI has no parameter for the rest of a path, so a normal parameter, with slashes in
    /// its value, replaces it.
    private static func path(_ route: Route) -> String {
        route.path.replacing("{asset...}", with: "{asset}")
    }

    private static func operation(_ route: Route) -> JSONValue {
        var fields: [String: JSONValue] = [
            "operationId": .string(route.name), "summary": .string(route.summary),
            "tags": .array([.string(route.group)]),
            "responses": .object(responses(route)),
        ]
        if !route.parameters.isEmpty {
            fields["parameters"] = .array(route.parameters.map(parameter))
        }
        if let body = body(route.body) { fields["requestBody"] = body }
        switch route.access {
        case .open, .openPage, .page, .operatorPage: fields["security"] = .array([])
        case .key(let scope), .operatorKey(let scope):
            fields["security"] = .array([.object(["key": .array([])])])
            fields["x-minilab-scope"] = .string(scope.rawValue)
        }
        if case .operatorKey = route.access { fields["x-minilab-operator"] = .bool(true) }
        return .object(fields)
    }

    private static func parameter(_ parameter: Route.Parameter) -> JSONValue {
        .object([
            "name": .string(parameter.name), "in": .string(parameter.location.rawValue),
            "required": .bool(parameter.isRequired), "schema": parameter.schema,
            "description": .string(parameter.summary),
        ])
    }

    private static func body(_ body: Route.Body) -> JSONValue? {
        switch body {
        case .none: nil
        case .json(let schema): content("application/json", schema, isRequired: true)
        case .optionalJSON(let schema): content("application/json", schema, isRequired: false)
        case .lines(let schema):
            content(
                "application/x-ndjson",
                .object(["type": .string("string"), "x-minilab-line": schema]), isRequired: false)
        case .file:
            content(
                "application/octet-stream",
                .object(["type": .string("string"), "format": .string("binary")]), isRequired: true)
        case .form:
            content(
                "application/x-www-form-urlencoded", .object(["type": .string("object")]),
                isRequired: true)
        }
    }

    private static func content(
        _ type: String, _ schema: JSONValue, isRequired: Bool
    ) -> JSONValue {
        .object([
            "required": .bool(isRequired),
            "content": .object([type: .object(["schema": schema])]),
        ])
    }

    private static func responses(_ route: Route) -> [String: JSONValue] {
        var responses: [String: JSONValue] = [:]
        for answer in route.answers {
            var fields: [String: JSONValue] = ["description": .string(answer.summary)]
            if let type = answer.contentType {
                fields["content"] = .object([type: .object(["schema": answer.schema])])
            }
            if !answer.headers.isEmpty {
                fields["headers"] = .object(
                    Dictionary(
                        uniqueKeysWithValues: answer.headers.map {
                            ($0, .object(["schema": .text]))
                        }))
            }
            let status = "\(answer.status.code)"
            if case .object(let before)? = responses[status],
                case .object(var types)? = before["content"], let type = answer.contentType
            {
                types[type] = .object(["schema": answer.schema])
                fields["content"] = .object(types)
            }
            responses[status] = .object(fields)
        }
        return responses
    }
}

/// The schemas of `jobs/` as components of the OpenAPI document. Requests follow the same rules as manifests.
enum Contracts {
    /// The schemas `Job`, `Edit`, `Filter`, `RelativeFilter` and `Event`.
    static var all: [String: JSONValue] {
        [
            "Job": part("Job", of: parsed(PackageResources.job_schema_json)),
            "Edit": part("Edit", of: parsed(PackageResources.edit_schema_json)),
            "Event": part("Event", of: parsed(PackageResources.event_schema_json)),
            "Filter": part("Filter", of: FilterSchema.json(in: .pixels)),
            "RelativeFilter": part("RelativeFilter", of: FilterSchema.json(in: .relative)),
        ]
    }

    /// The component names of the files to which the schemas refer.
    private static let names = [
        "job.schema.json": "Job", "edit.schema.json": "Edit", "filters.schema.json": "Filter",
        "filters.relative.schema.json": "RelativeFilter",
    ]

    /// Parses a schema. It cannot fail at runtime: the bytes are part of the program, and a test parses them.
    private static func parsed(_ bytes: [UInt8]) -> JSONValue {
        do {
            return try JSONValue(parsing: String(decoding: bytes, as: UTF8.self), as: "a schema")
        } catch {
            preconditionFailure("A schema of jobs/ is no JSON: \(error)")
        }
    }

    /// Returns a schema as a component of the document, with its references rewritten.
    private static func part(_ name: String, of schema: JSONValue) -> JSONValue {
        guard case .object(var fields) = moved(schema, to: name) else { return schema }
        fields["$schema"] = nil
        fields["$comment"] = nil
        return .object(fields)
    }

    private static func moved(_ value: JSONValue, to name: String) -> JSONValue {
        switch value {
        case .array(let values): return .array(values.map { moved($0, to: name) })
        case .object(let fields):
            return .object(
                fields.reduce(into: [:]) { result, field in
                    if field.key == "$ref", case .string(let text) = field.value {
                        result[field.key] = .string(reference(text, in: name))
                    } else {
                        result[field.key] = moved(field.value, to: name)
                    }
                })
        default: return value
        }
    }

    private static func reference(_ text: String, in name: String) -> String {
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = parts[0].isEmpty ? name : names[String(parts[0])] ?? String(parts[0])
        return "#/components/schemas/\(target)" + (parts.count > 1 ? String(parts[1]) : "")
    }
}

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
