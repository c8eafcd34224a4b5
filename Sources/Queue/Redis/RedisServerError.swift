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

    /// The message, for logs and interpolation.
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
