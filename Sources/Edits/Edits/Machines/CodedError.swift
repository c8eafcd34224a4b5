/// The codes of a ``CodedError``, a closed set.
public protocol ErrorCode: Sendable, Equatable {
    /// Whether the code precedes the message in logs and interpolations.
    static var isShown: Bool { get }
}

extension ErrorCode {
    public static var isShown: Bool { false }
}

/// An error whose name in traces is not that of its type.
public protocol NamedError: Error {
    var name: String { get }
}

/// An error with a code for programs and a message for people.
public struct CodedError<Code: ErrorCode>: NamedError, CustomStringConvertible {
    public let code: Code
    /// The failure, the value in question, the expectation and the action to take; it never contains a secret.
    public let message: String
    /// The error of another party that led to this one.
    public let cause: (any Error)?

    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The name of its kind in traces, such as `QueueError`.
    public var name: String { String("\(Code.self)".dropLast("Code".count)) }

    public var description: String { Code.isShown ? "\(code): \(message)" : message }
}
