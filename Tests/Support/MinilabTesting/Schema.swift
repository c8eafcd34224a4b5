public import Edits
import Foundation

/// A schema of `jobs/`.
public struct Schema {
    public let name: String
    public let json: JSONValue

    public static func edit() throws -> Schema { try Schema(name: "edit") }
    public static func job() throws -> Schema { try Schema(name: "job") }
    public static func event() throws -> Schema { try Schema(name: "event") }
    public static func webhook() throws -> Schema { try Schema(name: "webhook") }

    private init(name: String) throws {
        self.name = name
        json = try JSONValue(parsing: Contract.text("\(name).schema.json"), as: name)
    }

    /// Validates each text with Debian's `python3-jsonschema`. Returns nil for a valid text, else the reason.
    ///
    /// This validator shares no code with ours.
    public func refusals(of texts: [String]) throws -> [String?] {
        let output = try Tool.run(
            "/usr/bin/python3",
            [
                Contract.toolFolder.appending(path: "validate.py").path,
                Contract.folder.appending(path: "\(name).schema.json").path,
            ],
            input: JSONEncoder().encode(texts))
        return try JSONDecoder().decode([String?].self, from: output)
    }

    /// The value at `path`, a list of field names from the root.
    public subscript(path: String...) -> JSONValue? {
        path.reduce(Optional(json)) { value, name in value?.fields?[name] }
    }
}

extension JSONValue {
    public var fields: [String: JSONValue]? {
        guard case .object(let fields) = self else { return nil }
        return fields
    }

    public var values: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    public var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    public var double: Double? {
        guard case .number(let number) = self else { return nil }
        return number
    }
}
