/// Why a picture of a HEIF cannot be read.
public struct HEIFProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The boxes contradict themselves, or name bytes that the file does not have.
        case damaged
        /// A kind of picture that we do not read.
        case unsupported
    }

    public let kind: Kind
    /// The fault, and with which value.
    public let description: String

    /// A fault of the file, in these words.
    public static func damaged(_ text: String) -> HEIFProblem {
        HEIFProblem(kind: .damaged, description: text)
    }

    /// A kind that we do not read, in these words.
    public static func unsupported(_ text: String) -> HEIFProblem {
        HEIFProblem(kind: .unsupported, description: text)
    }
}
