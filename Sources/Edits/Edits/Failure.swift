/// The reason why a job failed: a code for programs and a sentence for people.
///
/// The sentence states the failed operation, the value, the expected value and the next step.
public struct Failure: Error, Sendable, Codable, Equatable, CustomStringConvertible {
    /// The code, from the closed set.
    public let code: FailureCode
    /// The sentence for people; at most ``messageLengthMax`` characters.
    public let message: String

    /// The signal that killed the render child, if one did.
    public let signal: Int?

    /// Longest message in characters: it keeps events and dead letters small, whatever the length of a library's message.
    public static let messageLengthMax = 1000

    /// Creates a failure; a message that is too long is truncated.
    public init(_ code: FailureCode, _ message: String, signal: Int? = nil) {
        self.code = code
        self.signal = signal
        self.message =
            message.count <= Self.messageLengthMax
            ? message : String(message.prefix(Self.messageLengthMax - 1)) + "…"
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
