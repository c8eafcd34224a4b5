/// Reads one JSON object field by field and refuses what nobody asked for.
///
/// Each error names the field by its path, such as `edit.filters[0].inputIntensity`.
struct JSONObjectReader {
    /// Where the object stands, for errors.
    let path: String
    private var fields: [String: JSONValue]
    private let known: [String]

    /// Starts reading `value`, which must be an object with no field outside `known`.
    init(_ value: JSONValue, at path: String, known: [String]) throws(Failure) {
        guard case .object(let fields) = value else {
            throw Failure(.invalidValue, "\(path) is \(value.kind); expected an object.")
        }
        self.path = path
        self.fields = fields
        self.known = known
        for name in fields.keys.sorted() where !known.contains(name) {
            throw Failure(
                .unknownField,
                "\(path).\(name) is not a field of the contract; "
                    + "known here: \(known.joined(separator: ", ")). Check the spelling.")
        }
    }

    func value(_ name: String) throws(Failure) -> JSONValue {
        guard let value = fields[name] else {
            throw Failure(.missingField, "\(path).\(name) is missing; it is required.")
        }
        return value
    }

    func optional(_ name: String) -> JSONValue? { fields[name] }

    func string(_ name: String) throws(Failure) -> String {
        let value = try value(name)
        guard case .string(let text) = value else {
            throw Failure(.invalidValue, "\(path).\(name) is \(value.kind); expected a string.")
        }
        return text
    }

    func array(_ name: String) throws(Failure) -> [JSONValue] {
        let value = try value(name)
        guard case .array(let values) = value else {
            throw Failure(.invalidValue, "\(path).\(name) is \(value.kind); expected an array.")
        }
        return values
    }
}
