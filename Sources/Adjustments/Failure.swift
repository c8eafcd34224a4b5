/// Why a job failed: a code for programs and a sentence for people.
///
/// The sentence says what failed, with which value, what was expected and what to do next.
public struct Failure: Error, Sendable, Codable, Equatable, CustomStringConvertible {
    /// The reason, from the closed set.
    public let code: FailureCode
    /// The sentence for people; at most ``messageLengthMax`` characters.
    public let message: String

    /// The signal that killed the render child, if one did.
    public let signal: Int?

    /// Longest message in characters: an event or a dead letter stays small whatever a library said.
    public static let messageLengthMax = 1000

    /// Makes a failure; a message that is too long is cut.
    public init(_ code: FailureCode, _ message: String, signal: Int? = nil) {
        self.code = code
        self.signal = signal
        self.message =
            message.count <= Self.messageLengthMax
            ? message : String(message.prefix(Self.messageLengthMax - 1)) + "…"
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
