/// The error of a Redis call without a usable reply.
///
/// Code should switch on ``code``; ``message`` is for people. A call may be repeated if ``mayHaveExecuted`` is false, or if
/// repeating it does no harm (an idempotent script).
public struct RedisError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure, a closed set.
    public enum Code: String, Sendable, CaseIterable {
        /// The text is not a Redis address: a fault of the configuration.
        case invalidURL
        /// A certificate or key file cannot be used: a fault of the configuration.
        case invalidConfiguration
        /// The command is empty, too large or not permitted on a shared connection.
        case invalidCommand
        /// `pendingCommandsMax` commands already wait for their replies.
        case tooManyPending
        /// The deadline passed before the client found a server that accepts the command.
        case unreachable
        /// The TLS handshake failed: certificate, host name or client certificate.
        case tls
        /// The server refused AUTH, CLIENT SETNAME or SELECT, or requires a password.
        case loginRefused
        /// The sentinels watch no master of the name in the URL.
        case unknownMaster
        /// The deadline passed before the reply arrived.
        case timeout
        /// The calling task was cancelled.
        case cancelled
        /// The connection ended after the command was written and before its reply arrived.
        case connectionLost
        /// The server sent bytes that are not RESP 2, or that exceed the limits.
        case protocolViolation
        /// The client was closed.
        case closed
        /// The server replied with an error, which is in ``RedisError/serverError``.
        case server
    }

    /// The kind of failure.
    public let code: Code

    /// The failure, the value in question, the expectation and the action to take; it never contains a password.
    public let message: String

    /// Whether the server may have executed the command, wholly or (a script) in part.
    ///
    /// False means that it certainly has not: the command was never written, or it was refused
    /// before its execution began.
    public let mayHaveExecuted: Bool

    /// The server's own message, if there is one (``Code/server`` and ``Code/loginRefused``).
    public let serverError: RedisServerError?

    init(
        _ code: Code, _ message: String, mayHaveExecuted: Bool = false,
        serverError: RedisServerError? = nil
    ) {
        self.code = code
        self.message = message
        self.mayHaveExecuted = mayHaveExecuted
        self.serverError = serverError
    }

    init(answered serverError: RedisServerError, command: String) {
        let advice =
            ["MOVED", "ASK"].contains(serverError.prefix)
            ? ". The server is a node of a cluster: write redis+cluster:// in the URL." : ""
        self.init(
            .server, "Redis answered \(command) with an error: \(serverError.message)\(advice)",
            mayHaveExecuted: !serverError.precedesExecution, serverError: serverError)
    }

    /// The message, for logs and interpolation.
    public var description: String { message }
}
