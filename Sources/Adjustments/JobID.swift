/// The name of a job: chosen by the producer, or the id of its entry in the ingress stream.
public struct JobID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The text: letters, digits, `.`, `_`, `-`; 1 to 64 of them, the first a letter or digit.
    public let string: String

    /// Checks an id.
    ///
    /// The alphabet is small because ids become Redis keys, file names and parts of event ids.
    ///
    /// - Throws: `invalidValue`.
    public init(_ string: String) throws(Failure) {
        let allowed = string.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        let first = string.utf8.first
        guard allowed, (1...ContractLimits.jobIDLengthMax).contains(string.utf8.count),
            let first, ![UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains(first)
        else {
            throw Failure(
                .invalidValue,
                "id \(String(string.prefix(80)).debugDescription) is not a job id: 1 to "
                    + "\(ContractLimits.jobIDLengthMax) letters, digits, '.', '_' or '-', "
                    + "starting with a letter or digit.")
        }
        self.string = string
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
