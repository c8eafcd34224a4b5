import Edits

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
        guard let bytes = text.percentDecodedBytes else {
            throw RedisError(
                .invalidURL,
                "The \(part) in the Redis URL has a \"%\" without two hexadecimal digits: "
                    + "write the percent sign itself as %25.")
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

// The part of a Redis URL between login and database.
extension RedisURLParser {
    /// The maximum length of a path in `sockaddr_un`, without its terminating zero. Source: unix(7).
    static let socketPathBytesMax = 107

    func topology() throws(RedisError) -> RedisURL.Topology {
        switch scheme {
        case .unix:
            return .standalone(.unixSocket(path: try socketPath()))
        case .redis, .rediss:
            guard !location.contains(",") else {
                throw Self.invalid(
                    "the host", location,
                    expected: "one host, or redis+sentinel:// or redis+cluster:// for several")
            }
            return .standalone(try Self.address(location, defaultPort: RedisURL.defaultPort))
        case .redisCluster, .redissCluster:
            return .cluster(seeds: try addresses(defaultPort: RedisURL.defaultPort))
        case .redisSentinel, .redissSentinel:
            let sentinels = try addresses(defaultPort: RedisURL.defaultSentinelPort)
            // The characters that Sentinel allows in a name. Source: sentinel.conf, "sentinel monitor".
            let isName = masterName.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || ".-_".utf8.contains(byte)
            }
            guard !masterName.isEmpty, isName else {
                throw Self.invalid(
                    "the master", masterName,
                    expected: "its name in the sentinels' settings, as in "
                        + "redis+sentinel://host:26379/mymaster/0")
            }
            return .sentinel(master: String(masterName), sentinels: sentinels)
        }
    }

    private func addresses(defaultPort: Int) throws(RedisError) -> [RedisURL.Address] {
        var addresses: [RedisURL.Address] = []
        for part in location.split(separator: ",", omittingEmptySubsequences: false) {
            addresses.append(try Self.address(part, defaultPort: defaultPort))
        }
        return addresses
    }

    private static func address(
        _ location: Substring, defaultPort: Int
    ) throws(RedisError) -> RedisURL.Address {
        let host: Substring
        let portText: Substring?
        if location.hasPrefix("["), let end = location.firstIndex(of: "]") {
            host = location[location.index(after: location.startIndex)..<end]
            let tail = location[location.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else {
                throw invalid("the host", location, expected: "[IPv6 address]:port")
            }
            portText = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            let parts = location.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else {
                throw invalid(
                    "the host", location, expected: "one \":\" or, for IPv6, [address]:port")
            }
            host = parts[0]
            portText = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw invalid("the host", host, expected: "a host name or an IP address")
        }
        guard let portText else { return .tcp(host: String(host), port: defaultPort) }
        guard let port = Int(portText), (1...65_535).contains(port) else {
            throw invalid("the port", portText, expected: "a number from 1 to 65535")
        }
        return .tcp(host: String(host), port: port)
    }

    private func socketPath() throws(RedisError) -> String {
        let path = try Self.decoded(location, of: "path")
        guard path.hasPrefix("/"), path.utf8.count <= Self.socketPathBytesMax,
            !path.utf8.contains(0)
        else {
            throw Self.invalid(
                "the socket's path", location,
                expected: "an absolute path of at most \(Self.socketPathBytesMax) bytes")
        }
        return path
    }
}
