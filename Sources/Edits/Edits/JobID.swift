/// The name of a job: chosen by the producer, or the id of its entry in the ingress stream.
public struct JobID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The text: letters, digits, `.`, `_`, `-`, and `:` in the id of a job; 1 to 64 of them, the first a letter or digit.
    public let string: String

    /// Checks an id.
    ///
    /// The alphabet is small because ids become Redis keys, file names and parts of event ids.
    ///
    /// - Throws: `invalidValue`.
    public init(_ string: String) throws(Failure) {
        guard Self.isID(string, with: "._-") else {
            throw Failure(
                .invalidValue,
                "id \(String(string.prefix(80)).debugDescription) is not a job id: 1 to "
                    + "\(ContractLimits.jobIDLengthMax) letters, digits, '.', '_' or '-', "
                    + "starting with a letter or digit.")
        }
        self.string = string
    }

    /// Checks the id of a job that is no member of a batch: it may also have `:` between its parts, as in `order:77:photo-3`.
    ///
    /// The jobs of a batch are called `<batch>:<number>`, and the queue keeps the names of batches as `batch:<name>` among the ids of
    /// jobs. So neither is an id of a producer's.
    ///
    /// - Throws: `invalidValue`.
    public init(ofJob string: String) throws(Failure) {
        let parts = string.utf8.split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isMember =
            parts.count > 1 && parts[parts.count - 1].allSatisfy { (0x30...0x39).contains($0) }
        guard Self.isID(string, with: "._-:"), !isMember,
            parts.count == 1 || !parts[0].elementsEqual("batch".utf8)
        else {
            throw Failure(
                .invalidValue,
                "id \(String(string.prefix(80)).debugDescription) is not a job id: 1 to "
                    + "\(ContractLimits.jobIDLengthMax) letters, digits, '.', '_', '-' or ':', starting with a letter or "
                    + "digit, not with batch:, and not ending in : and a number, as the jobs of a batch do."
            )
        }
        self.string = string
    }

    private static func isID(_ text: String, with punctuation: String) -> Bool {
        func isAlphanumeric(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        guard (1...ContractLimits.jobIDLengthMax).contains(text.utf8.count),
            let first = text.utf8.first, isAlphanumeric(first)
        else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || punctuation.utf8.contains($0) }
    }

    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }

    public var description: String { string }
}
