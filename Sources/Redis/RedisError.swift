/// Why a Redis call gave no reply that its caller can use.
///
/// Switch on ``code``; show ``message`` to people. A call may be repeated when ``mayHaveExecuted`` is
/// false, or when repeating it does no harm (an idempotent script).
public struct RedisError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure, a closed set.
    public enum Code: String, Sendable, CaseIterable {
        /// The text is not a Redis address; the configuration is at fault.
        case invalidURL
        /// A certificate or key file cannot be used; the configuration is at fault.
        case invalidConfiguration
        /// The command is empty, too large or one that a shared connection cannot carry.
        case invalidCommand
        /// `pendingCommandsMax` commands already wait for their replies.
        case tooManyPending
        /// The deadline passed before a server could be found that takes the command.
        case unreachable
        /// The TLS handshake failed: certificate, host name or client certificate.
        case tls
        /// The server refused AUTH, CLIENT SETNAME or SELECT, or wants a password.
        case loginRefused
        /// The sentinels watch no master of the name in the URL.
        case unknownMaster
        /// The deadline passed before the reply came.
        case timeout
        /// The calling task was cancelled.
        case cancelled
        /// The connection ended after the command was written and before its reply came.
        case connectionLost
        /// The server sent bytes that are not RESP 2, or more of them than the limits allow.
        case protocolViolation
        /// The client was closed.
        case closed
        /// The server answered with an error, which is in ``RedisError/serverError``.
        case server
    }

    /// What kind of failure this is.
    public let code: Code

    /// What failed, with which value, what was expected and what to do; never holds a password.
    public let message: String

    /// Whether the server may have executed the command, all of it or (a script) its first part.
    ///
    /// False means that it certainly has not: the command was never written, or it was refused
    /// before its execution began.
    public let mayHaveExecuted: Bool

    /// The server's own words, where it said any (``Code/server`` and ``Code/loginRefused``).
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
