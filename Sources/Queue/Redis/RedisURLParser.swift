/// A Redis URL divided into its parts, which are not decoded yet.
struct RedisURLParser {
    enum Scheme: String {
        case redis, rediss, unix
        case redisSentinel = "redis+sentinel"
        case redissSentinel = "rediss+sentinel"
        case redisCluster = "redis+cluster"
        case redissCluster = "rediss+cluster"

        var usesTLS: Bool { rawValue.hasPrefix("rediss") }
    }

    let scheme: Scheme
    /// The text before the `@`.
    private let userInfo: Substring?
    /// Hosts and ports, or the path of the socket.
    let location: Substring
    /// The sentinels' name of the master; empty without sentinels.
    let masterName: Substring
    /// The database; empty means 0.
    private let databaseText: Substring

    init(_ string: String) throws(RedisError) {
        let schemeEnd = string.firstRange(of: "://")
        let schemeText = schemeEnd.map { string[..<$0.lowerBound] } ?? ""
        guard let schemeEnd, let scheme = Scheme(rawValue: String(schemeText)) else {
            throw Self.invalid(
                "the scheme", schemeText,
                expected:
                    "redis:// (TCP), unix:// (a socket), redis+sentinel:// or redis+cluster://, "
                    + "and rediss instead of redis for TLS")
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

        switch scheme {
        case .unix:
            masterName = ""
            (location, databaseText) = try Self.splitSocket(rest)
        case .redis, .rediss, .redisCluster, .redissCluster:
            masterName = ""
            (location, databaseText) = Self.splitPath(try Self.withoutQuery(rest))
        case .redisSentinel, .redissSentinel:
            let path: Substring
            (location, path) = Self.splitPath(try Self.withoutQuery(rest))
            (masterName, databaseText) = Self.splitPath(path)
        }
    }

    private static func withoutQuery(_ rest: Substring) throws(RedisError) -> Substring {
        guard let mark = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return rest }
        throw invalid("the end", rest[mark...], expected: "nothing after hosts and path")
    }

    private static func splitPath(_ rest: Substring) -> (first: Substring, path: Substring) {
        guard let slash = rest.firstIndex(of: "/") else { return (rest, "") }
        return (rest[..<slash], rest[rest.index(after: slash)...])
    }

    private static func splitSocket(
        _ rest: Substring
    ) throws(RedisError) -> (location: Substring, database: Substring) {
        guard let mark = rest.firstIndex(of: "?") else { return (rest, "") }
        let query = rest[rest.index(after: mark)...]
        guard query.hasPrefix("db=") else {
            throw invalid("the query", query, expected: "db=N with the number of the database")
        }
        return (rest[..<mark], query.dropFirst("db=".count))
    }

    func login() throws(RedisError) -> (user: String?, password: String?) {
        guard let userInfo else { return (nil, nil) }
        guard let colon = userInfo.firstIndex(of: ":") else {
            throw RedisError(
                .invalidURL,
                "The Redis URL has a login without \":\": write user:password@ or :password@, or give "
                    + "the user and the file of the password beside the URL.")
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
        let isCluster = scheme == .redisCluster || scheme == .redissCluster
        guard !isCluster || database == 0 else {
            throw Self.invalid(
                "the database", databaseText, expected: "none, because a cluster has only 0")
        }
        return Int(database)
    }

    /// Returns `text` with each `%XX` replaced by its byte.
    static func decoded(
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

    static func invalid(
        _ part: String, _ value: Substring, expected: String
    ) -> RedisError {
        RedisError(.invalidURL, "In the Redis URL \(part) is \"\(value)\"; expected \(expected).")
    }
}
