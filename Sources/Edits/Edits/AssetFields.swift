/// Values of one asset for the placeholders `{field:NAME}`, which a producer sends beside its edit.
///
/// They are people's names: they are in no log, trace or event, and ``description`` has none of them.
public struct AssetFields: Sendable, Equatable {
    /// The values by name; never empty.
    public let byName: [String: String]

    /// Reads a flat JSON object of texts and numbers.
    ///
    /// - Throws: `oversizedField` for more than ``ContractLimits/fieldsMax`` names or ``ContractLimits/fieldsBytesMax`` bytes,
    ///   `invalidValue` for other names and values, and for an empty object.
    public init(_ value: JSONValue, at path: String) throws(Failure) {
        guard case .object(let fields) = value, !fields.isEmpty else {
            throw Failure(
                .invalidValue,
                "\(path) is \(value == .object([:]) ? "empty" : value.kind); expected an object of texts by name, or no such field."
            )
        }
        guard fields.count <= ContractLimits.fieldsMax else {
            throw Failure(
                .oversizedField,
                "\(path) has \(fields.count) names; at most \(ContractLimits.fieldsMax) are allowed."
            )
        }
        var byName: [String: String] = [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard Self.isName(name) else {
                throw Failure(
                    .invalidValue,
                    "\(path) has a name of \(name.utf8.count) bytes that is not allowed; expected 1 to "
                        + "\(ContractLimits.fieldNameMax) of a-z, 0-9 and -, a letter first.")
            }
            switch value {
            case .string(let text): byName[name] = text
            case .number: byName[name] = value.canonical
            default:
                throw Failure(
                    .invalidValue,
                    "\(path).\(name) is \(value.kind); expected a text or a number, because fields are flat."
                )
            }
        }
        self.byName = byName
        guard json.utf8.count <= ContractLimits.fieldsBytesMax else {
            throw Failure(
                .oversizedField,
                "\(path) has \(json.utf8.count) bytes as JSON; at most \(ContractLimits.fieldsBytesMax) are allowed."
            )
        }
    }

    /// Reads the text that a producer sent beside an edit.
    ///
    /// - Throws: as ``init(_:at:)``, and `malformedJSON`.
    public init(json text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.fieldsBytesMax else {
            throw Failure(
                .oversizedField,
                "fields has \(text.utf8.count) bytes; at most \(ContractLimits.fieldsBytesMax) are allowed."
            )
        }
        let value: JSONValue
        do throws(Failure) {
            value = try JSONValue(parsing: text, as: "fields")
        } catch {
            // The parser's sentence would have the beginning of the text.
            throw Failure(
                error.code, "fields is not valid JSON; expected an object of texts by name.")
        }
        try self.init(value, at: "fields")
    }

    /// Whether a text can be a name of a field.
    public static func isName(_ text: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = text.utf8.first, letters.contains(first),
            text.utf8.count <= ContractLimits.fieldNameMax
        else { return false }
        return text.utf8.allSatisfy {
            letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-")
        }
    }

    /// The canonical JSON text.
    public var json: String { JSONValue.object(byName.mapValues(JSONValue.string)).canonical }
}

extension AssetFields: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of fields, without any value.
    public var description: String { "\(byName.count) fields" }
    public var debugDescription: String { description }
}
