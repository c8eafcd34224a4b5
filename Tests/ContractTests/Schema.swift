import Adjustments
import Foundation

/// A schema of `jobs/`.
struct Schema {
    let name: String
    let json: JSONValue

    static func edit() throws -> Schema { try Schema(name: "edit") }
    static func job() throws -> Schema { try Schema(name: "job") }
    static func event() throws -> Schema { try Schema(name: "event") }

    private init(name: String) throws {
        self.name = name
        json = try JSONValue(parsing: Contract.text("\(name).schema.json"), as: name)
    }

    /// Asks Debian's `python3-jsonschema` about each text: nil when it accepts it, else its reason.
    ///
    /// It is a judge that shares no code with ours.
    func refusals(of texts: [String]) throws -> [String?] {
        let output = try Tool.run(
            "/usr/bin/python3",
            [
                Contract.testFolder.appending(path: "validate.py").path,
                Contract.folder.appending(path: "\(name).schema.json").path,
            ],
            input: JSONEncoder().encode(texts))
        return try JSONDecoder().decode([String?].self, from: output)
    }

    /// The value below `path`, names of fields from the top.
    subscript(path: String...) -> JSONValue? {
        path.reduce(Optional(json)) { value, name in value?.fields?[name] }
    }
}

extension JSONValue {
    var fields: [String: JSONValue]? {
        guard case .object(let fields) = self else { return nil }
        return fields
    }

    var values: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var double: Double? {
        guard case .number(let number) = self else { return nil }
        return number
    }
}
