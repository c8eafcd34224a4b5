/// The reason why a picture of a HEIF cannot be read.
public struct HEIFProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The boxes contradict each other, or declare bytes that the file does not have.
        case damaged
        /// An unsupported kind of picture.
        case unsupported
    }

    public let kind: Kind
    /// The fault, and the value that causes it.
    public let description: String

    /// Creates a fault of the file with this text.
    public static func damaged(_ text: String) -> HEIFProblem {
        HEIFProblem(kind: .damaged, description: text)
    }

    /// Creates the error for an unsupported kind with this text.
    public static func unsupported(_ text: String) -> HEIFProblem {
        HEIFProblem(kind: .unsupported, description: text)
    }
}
