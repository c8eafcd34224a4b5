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

    public var description: String { message }
}

/// An error reply of the server.
public struct RedisServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first word if it is in capitals: `ERR`, `NOSCRIPT`, `NOPERM`, `OOM`, `READONLY` …; otherwise empty.
    ///
    /// Scripts choose their own prefixes with `redis.error_reply`.
    public let prefix: String

    /// The whole text, including the prefix.
    public let message: String

    /// Creates an error from the text that the server sent, without the leading `-`.
    public init(_ message: String) {
        let code = message.prefix { $0 != " " }
        let isPrefix = !code.isEmpty && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        self.prefix = isPrefix ? String(code) : ""
        self.message = message
    }

    public var description: String { message }

    /// Whether this reply proves that the server has executed nothing.
    ///
    /// Only replies that a `redis.call` inside a script cannot produce after a write are listed: since
    /// Redis 7 an `OOM` or `NOPERM` of an inner call ends the script under the same prefix, after its
    /// earlier writes. A `READONLY` or `NOREPLICAS` may also come from an inner call; but a server that
    /// sends it refuses every write, so there was no earlier one. Source: the error replies of `processCommand`, Redis 7.0.
    var precedesExecution: Bool {
        isMisdirected || ["NOSCRIPT", "NOAUTH", "BUSY"].contains(prefix)
    }

    /// Whether the command must wait for another server or a later time, and was not executed here.
    ///
    /// `UNBLOCKED`, and also `MOVED`, end a blocking read when its server stops being the master.
    var isMisdirected: Bool {
        [
            "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "NOREPLICAS", "MASTERDOWN",
            "LOADING", "UNBLOCKED",
        ].contains(prefix)
    }

    /// Returns the node that a `MOVED` names; nil for any other reply, or if it names none.
    ///
    /// - Parameter present: The node that replied: an empty host means the same host. Source:
    ///   <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>.
    func movedAddress(from present: RedisURL.Address) -> RedisURL.Address? {
        let fields = message.split(separator: " ")
        guard prefix == "MOVED", fields.count >= 3, let colon = fields[2].lastIndex(of: ":"),
            let port = Int(fields[2][fields[2].index(after: colon)...]), 1...65_535 ~= port
        else { return nil }
        let host = fields[2][..<colon]
        switch (host, present) {
        case ("?", _): return nil
        case ("", .tcp(let host, _)): return .tcp(host: host, port: port)
        case ("", .unixSocket): return nil
        default: return .tcp(host: String(host), port: port)
        }
    }
}

/// One reply of the server, in the types of RESP 2.
///
/// Source: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.
public enum RedisReply: Sendable, Hashable {
    /// A null bulk string or null array: no such key, or a blocking read that found nothing.
    case null
    /// A simple string such as `OK`.
    case status(String)
    /// An error inside an array; an error as the whole reply is thrown instead.
    case error(RedisServerError)
    case integer(Int64)
    /// A binary-safe string.
    case bulk([UInt8])
    /// An array, possibly nested.
    case array([RedisReply])

    public var isNull: Bool { self == .null }

    /// The text of a status or of a bulk string in valid UTF-8; nil for any other reply.
    public var string: String? {
        switch self {
        case .status(let text): text
        case .bulk(let bytes): String(validating: bytes, as: UTF8.self)
        case .null, .error, .integer, .array: nil
        }
    }

    /// An integer, or the value of a bulk string or status that contains a decimal integer; nil for any other reply.
    ///
    /// Scripts and hashes return numbers as strings.
    public var int: Int64? {
        if case .integer(let value) = self { value } else { string.flatMap { Int64($0) } }
    }

    /// The bytes of a bulk string or status; nil for any other reply.
    public var bytes: [UInt8]? {
        switch self {
        case .bulk(let bytes): bytes
        case .status(let text): Array(text.utf8)
        case .null, .error, .integer, .array: nil
        }
    }

    public var array: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}
