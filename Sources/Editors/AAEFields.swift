import Edits
import FoundationEssentials

/// The values of an `.AAE` file by key, each checked on access.
struct AAEFields {
    private let fields: [String: PropertyList]

    /// - Throws: `badSidecar` if the outermost value is not a dictionary. All other functions here throw the same code.
    init(_ list: PropertyList) throws(Failure) {
        guard case .dictionary(let fields) = list else {
            throw Failure(.badSidecar, "the sidecar is \(list.kind); expected a dictionary.")
        }
        self.fields = fields
    }

    func integer(_ key: String) throws(Failure) -> Int {
        guard let value = try optionalInteger(key) else { throw missing(key, "a whole number") }
        return value
    }

    func optionalInteger(_ key: String) throws(Failure) -> Int? {
        switch fields[key] {
        case nil: return nil
        case .integer(let value): return value
        case let other?: throw wrong(key, other, "a whole number")
        }
    }

    /// Returns text of 1 to ``AAESidecar/textBytesMax`` bytes.
    func text(_ key: String) throws(Failure) -> String {
        guard let text = try optionalText(key) else { throw missing(key, "text") }
        guard !text.isEmpty else {
            throw Failure(.badSidecar, "\(key) of the sidecar is empty; expected a name.")
        }
        return text
    }

    func optionalText(_ key: String) throws(Failure) -> String? {
        switch fields[key] {
        case nil: return nil
        case .string(let text):
            guard text.utf8.count <= AAESidecar.textBytesMax else {
                throw Failure(
                    .badSidecar,
                    "\(key) of the sidecar has \(text.utf8.count) bytes; expected at most "
                        + "\(AAESidecar.textBytesMax).")
            }
            // XML could not express other characters when the file is written again.
            let isSpelled = text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && !$0.properties.isNoncharacterCodePoint
            }
            guard isSpelled else {
                throw Failure(
                    .badSidecar,
                    "\(key) of the sidecar is \(text.debugDescription); "
                        + "expected no control characters or noncharacters.")
            }
            return text
        case let other?: throw wrong(key, other, "text")
        }
    }

    /// Returns data of 1 to `AdjustmentData.bytesMax` bytes.
    func data(_ key: String) throws(Failure) -> Data {
        switch fields[key] {
        case nil: throw missing(key, "data")
        case .data(let data):
            guard (1...AdjustmentData.bytesMax).contains(data.count) else {
                throw Failure(
                    .badSidecar,
                    "\(key) of the sidecar has \(data.count) bytes; expected 1 to "
                        + "\(AdjustmentData.bytesMax).")
            }
            return data
        case let other?: throw wrong(key, other, "data")
        }
    }

    func optionalDate(_ key: String) throws(Failure) -> Date? {
        switch fields[key] {
        case nil: return nil
        case .date(let date): return date
        case let other?: throw wrong(key, other, "a date")
        }
    }

    private func missing(_ key: String, _ expected: String) -> Failure {
        Failure(.badSidecar, "\(key) is missing in the sidecar; expected \(expected).")
    }

    private func wrong(_ key: String, _ value: PropertyList, _ expected: String) -> Failure {
        Failure(.badSidecar, "\(key) of the sidecar is \(value.summary); expected \(expected).")
    }
}

extension PropertyList {
    /// The value for an error: its kind, and the value itself if it is short.
    fileprivate var summary: String {
        switch self {
        case .integer(let value), .uid(let value): "\(kind) (\(value))"
        case .real(let value): "\(kind) (\(value))"
        case .boolean(let value): "\(kind) (\(value))"
        case .string(let text): "\(kind) (\(String(text.prefix(40)).debugDescription))"
        case .data(let data): "\(kind) (\(data.count) bytes)"
        case .array(let values): "\(kind) (\(values.count) values)"
        case .dictionary(let pairs): "\(kind) (\(pairs.count) keys)"
        case .date: kind
        }
    }
}
