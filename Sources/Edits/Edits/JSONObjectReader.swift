/// Reads one JSON object field by field and rejects unknown fields.
///
/// Each error names the field by its path, such as `edit.filters[0].inputIntensity`.
struct JSONObjectReader {
    /// The path of the object, for errors.
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

    /// Returns the string, or nil if the field is missing.
    func text(_ name: String) throws(Failure) -> String? {
        optional(name) == nil ? nil : try string(name)
    }

    func array(_ name: String) throws(Failure) -> [JSONValue] {
        let value = try value(name)
        guard case .array(let values) = value else {
            throw Failure(.invalidValue, "\(path).\(name) is \(value.kind); expected an array.")
        }
        return values
    }

    /// Returns the choice that a string names, or nil if the field is missing.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(Failure) -> Choice? {
        guard optional(name) != nil else { return nil }
        let text = try string(name)
        guard let choice = Choice(rawValue: text) else {
            throw Failure(
                .invalidValue,
                "\(path).\(name) is \(text.debugDescription); allowed: "
                    + Choice.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return choice
    }

    /// Returns the integer, or nil if the field is missing.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let value = optional(name) else { return nil }
        guard case .number(let number) = value, let whole = Int(exactly: number),
            range.contains(whole)
        else {
            throw Failure(
                .invalidValue,
                "\(path).\(name) is \(value.canonical); expected a whole number from "
                    + "\(range.lowerBound) to \(range.upperBound).")
        }
        return whole
    }

    /// Returns whether a flag is set; false if the field is missing.
    func flag(_ name: String) throws(Failure) -> Bool {
        guard let value = optional(name) else { return false }
        guard case .bool(let flag) = value else {
            throw Failure(
                .invalidValue, "\(path).\(name) is \(value.canonical); expected true or false.")
        }
        return flag
    }
}
