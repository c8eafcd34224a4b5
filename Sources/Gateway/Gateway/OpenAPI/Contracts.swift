import Edits

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
