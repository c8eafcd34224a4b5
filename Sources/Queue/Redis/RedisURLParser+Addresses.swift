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
