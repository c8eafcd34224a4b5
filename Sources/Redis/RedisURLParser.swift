/// A Redis URL cut into its parts, none of them decoded yet.
struct RedisURLParser {
    enum Scheme: String, CaseIterable {
        case redis, rediss, unix
    }

    /// The longest path that `sockaddr_un` holds, without its closing zero. Source: unix(7).
    static let socketPathBytesMax = 107

    let scheme: Scheme
    /// The text before the `@`.
    private let userInfo: Substring?
    /// Host and port, or the path of the socket.
    private let place: Substring
    /// The database; empty means 0.
    private let databaseText: Substring

    init(_ string: String) throws(RedisError) {
        let schemeEnd = string.firstRange(of: "://")
        let schemeText = schemeEnd.map { string[..<$0.lowerBound] } ?? ""
        guard let schemeEnd, let scheme = Scheme(rawValue: String(schemeText)) else {
            throw Self.invalid(
                "the scheme", schemeText,
                expected: "redis:// (TCP), rediss:// (TLS) or unix:// (a socket)")
        }
        self.scheme = scheme
        var rest = string[schemeEnd.upperBound...]

        let pathStart = rest.firstIndex(of: "/") ?? rest.endIndex
        if let at = rest[..<pathStart].lastIndex(of: "@") {
            userInfo = rest[..<at]
            rest = rest[rest.index(after: at)...]
        } else {
            userInfo = nil
        }
        // A raw "/" in a password moves the rest of it into the path, where a message could show it.
        guard !rest.contains("@") else {
            throw RedisError(
                .invalidURL,
                "The Redis URL has an \"@\" after its first \"/\": percent-encode user and password "
                    + "(\"/\" is %2F, \"@\" is %40).")
        }

        (place, databaseText) =
            try scheme == .unix ? Self.splitSocket(rest) : Self.splitHost(rest)
    }

    private static func splitHost(
        _ rest: Substring
    ) throws(RedisError) -> (place: Substring, database: Substring) {
        if let mark = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) {
            throw invalid(
                "the end", rest[mark...], expected: "nothing after redis://host:port/database")
        }
        guard let slash = rest.firstIndex(of: "/") else { return (rest, "") }
        return (rest[..<slash], rest[rest.index(after: slash)...])
    }

    private static func splitSocket(
        _ rest: Substring
    ) throws(RedisError) -> (place: Substring, database: Substring) {
        guard let mark = rest.firstIndex(of: "?") else { return (rest, "") }
        let query = rest[rest.index(after: mark)...]
        guard query.hasPrefix("db=") else {
            throw invalid("the query", query, expected: "db=N with the number of the database")
        }
        return (rest[..<mark], query.dropFirst("db=".count))
    }

    func address() throws(RedisError) -> RedisURL.Address {
        guard scheme != .unix else { return .unixSocket(path: try socketPath()) }
        let host: Substring
        let portText: Substring?
        if place.hasPrefix("["), let end = place.firstIndex(of: "]") {
            host = place[place.index(after: place.startIndex)..<end]
            let tail = place[place.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else {
                throw Self.invalid("the host", place, expected: "[IPv6 address]:port")
            }
            portText = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            let parts = place.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else {
                throw Self.invalid(
                    "the host", place, expected: "one \":\" or, for IPv6, [address]:port")
            }
            host = parts[0]
            portText = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Self.invalid("the host", host, expected: "a host name or an IP address")
        }
        return .tcp(host: String(host), port: try Self.port(portText))
    }

    private static func port(_ text: Substring?) throws(RedisError) -> Int {
        guard let text else { return RedisURL.defaultPort }
        guard let port = Int(text), (1...65_535).contains(port) else {
            throw invalid("the port", text, expected: "a number from 1 to 65535")
        }
        return port
    }

    private func socketPath() throws(RedisError) -> String {
        let path = try Self.decoded(place, of: "path")
        guard path.hasPrefix("/"), path.utf8.count <= Self.socketPathBytesMax,
            !path.utf8.contains(0)
        else {
            throw Self.invalid(
                "the socket's path", place,
                expected: "an absolute path of at most \(Self.socketPathBytesMax) bytes")
        }
        return path
    }

    func login() throws(RedisError) -> (user: String?, password: String?) {
        guard let userInfo else { return (nil, nil) }
        guard let colon = userInfo.firstIndex(of: ":") else {
            throw RedisError(
                .invalidURL,
                "The Redis URL has a login without \":\": write user:password@ or :password@.")
        }
        let user = try Self.decoded(userInfo[..<colon], of: "user")
        let password = try Self.decoded(
            userInfo[userInfo.index(after: colon)...], of: "password")
        guard !password.isEmpty else {
            throw RedisError(
                .invalidURL, "The Redis URL has an empty password: leave \"user:@\" out of it.")
        }
        return (user.isEmpty ? nil : user, password)
    }

    func database() throws(RedisError) -> Int {
        guard !databaseText.isEmpty else { return 0 }
        guard let database = Int32(databaseText), database >= 0 else {
            throw Self.invalid("the database", databaseText, expected: "a number such as 0 or 3")
        }
        return Int(database)
    }

    /// `text` with each `%XX` replaced by its byte.
    private static func decoded(
        _ text: Substring, of part: String
    ) throws(RedisError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = Substring(rest.prefix(2))
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else {
                throw RedisError(
                    .invalidURL,
                    "The \(part) in the Redis URL has a \"%\" without two hexadecimal digits: "
                        + "write the percent sign itself as %25.")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw RedisError(
                .invalidURL, "The \(part) in the Redis URL is not valid UTF-8 once it is decoded.")
        }
        return decoded
    }

    private static func invalid(
        _ part: String, _ value: Substring, expected: String
    ) -> RedisError {
        RedisError(.invalidURL, "In the Redis URL \(part) is \"\(value)\"; expected \(expected).")
    }
}
