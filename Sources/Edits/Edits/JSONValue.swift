import FoundationEssentials

/// Any JSON value, for input whose fields must be checked one by one.
///
/// `JSONDecoder` ignores fields that a type does not name, but the contract rejects them. So input is decoded to this type and read
/// with ``JSONObjectReader``.
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// Any number; JSON has one kind.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
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
