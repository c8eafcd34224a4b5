import FoundationEssentials

/// Any JSON value, for input whose fields must be checked one by one.
///
/// `JSONDecoder` ignores fields that a type does not name, but the contract rejects them. So input is decoded to this type and read
/// with ``JSONObjectReader``.
public enum JSONValue: Sendable, Equatable {
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// Any number; JSON has one kind.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// An object; the order of fields does not count.
    case object([String: JSONValue])

    /// Parses JSON text.
    ///
    /// - Parameter what: the name of the text in the error, such as `edit`.
    /// - Throws: ``FailureCode/malformedJSON`` with the parser's message; `invalidValue` for a long row of accents.
    public init(parsing text: String, as what: String) throws(Failure) {
        guard text.isStreamSafe else {
            throw Failure(
                .invalidValue,
                "\(what) has more than \(String.marksInARowMax) combining marks in a row, which no name of a "
                    + "file has.")
        }
        if let plain = PlainJSON.value(of: text) {
            self = plain
            return
        }
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        } catch {
            throw Failure(
                .malformedJSON,
                "\(what) is not valid JSON: \(Self.reason(error)). It starts with "
                    + "\(String(text.prefix(60)).debugDescription). Send one JSON object.")
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .dataCorrupted(let context), .keyNotFound(_, let context),
            .typeMismatch(_, let context), .valueNotFound(_, let context):
            let text = context.underlyingError.map { "\($0)" } ?? context.debugDescription
            return text.hasSuffix(".") ? String(text.dropLast()) : text
        @unknown default:
            return "\(error)"
        }
    }

    /// The name of this kind of value in an error.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The canonical text of this value, from which digests are computed: keys sorted, no spaces.
    ///
    /// Numbers are printed as Swift prints a `Double` (the shortest text that reads back the same), and integers below 2^53 without
    /// a fraction.
    public var canonical: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let value):
            if value == value.rounded(), abs(value) < 9_007_199_254_740_992 {
                return String(Int64(value))
            }
            return "\(value)"
        case .string(let value): return Self.quoted(value)
        case .array(let values): return "[" + values.map(\.canonical).joined(separator: ",") + "]"
        case .object(let fields):
            let members = fields.sorted { $0.key < $1.key }
                .map { Self.quoted($0.key) + ":" + $0.value.canonical }
            return "{" + members.joined(separator: ",") + "}"
        }
    }

    /// SHA-256 of the canonical text, in hex.
    public var digest: String { Data(canonical.utf8).sha256 }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {  // a type test, which may fail
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {  // likewise
            self = .number(value)
        } else if let value = try? container.decode(String.self) {  // likewise
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {  // likewise
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension Data {
    /// SHA-256 in hex.
    var sha256: String {
        SHA256.hash(data: self).hex
    }
}

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

    /// Returns the number, or nil if the field is missing.
    func number(_ name: String, in range: ClosedRange<Double>) throws(Failure) -> Double? {
        guard let value = optional(name) else { return nil }
        guard case .number(let number) = value, range.contains(number) else {
            throw Failure(
                .invalidValue,
                "\(path).\(name) is \(value.canonical); expected a number from "
                    + "\(JSONValue.number(range.lowerBound).canonical) to "
                    + "\(JSONValue.number(range.upperBound).canonical).")
        }
        return number
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
