/// An error reply of the server.
public struct RedisServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first word when it is in capitals: `ERR`, `NOSCRIPT`, `NOPERM`, `OOM`, `READONLY` …; else
    /// empty.
    ///
    /// Scripts choose their own words with `redis.error_reply`.
    public let prefix: String

    /// The whole text, the prefix included.
    public let message: String

    /// An error reply with the text the server sent, without the leading `-`.
    public init(_ message: String) {
        let word = message.prefix { $0 != " " }
        let isPrefix = !word.isEmpty && word.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        self.prefix = isPrefix ? String(word) : ""
        self.message = message
    }

    /// The message, for logs and interpolation.
    public var description: String { message }

    /// Whether the server decides on this answer before it executes anything.
    ///
    /// Only answers that a `redis.call` inside a script cannot produce are listed: since Redis 7 an
    /// `OOM`, `NOPERM` or `READONLY` of an inner call ends the script under the same prefix, after
    /// its earlier writes. Source: the error replies of `processCommand`, Redis 7.0.
    var precedesExecution: Bool {
        ["NOSCRIPT", "LOADING", "NOAUTH", "MASTERDOWN", "BUSY"].contains(prefix)
    }
}
