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
