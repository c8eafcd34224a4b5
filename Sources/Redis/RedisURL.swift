/// Where Redis is and how to log in there.
///
/// Seven forms, in which user, password and path are percent-encoded:
///
///     redis://[user:password@]host[:port][/database]
///     unix://[user:password@]/path/to/redis.sock[?db=database]
///     redis+sentinel://[user:password@]host[:port][,host[:port]…]/master[/database]
///     redis+cluster://[user:password@]host[:port][,host[:port]…]
///     rediss://, rediss+sentinel://, rediss+cluster://       the same over TLS
///
/// The user may be empty: `redis://:password@host`. Sentinels get the same login as the servers.
public struct RedisURL: Sendable, Hashable {
    /// Where one server listens.
    public enum Address: Sendable, Hashable {
        /// A host name, an IPv4 address or an IPv6 address without brackets.
        case tcp(host: String, port: Int)
        /// A Unix domain socket in the file system.
        case unixSocket(path: String)
    }

    /// How the server that takes our commands is found.
    public enum Topology: Sendable, Hashable {
        /// It is always this one.
        case standalone(Address)
        /// Any of the sentinels knows which one is the master of that name at present.
        case sentinel(master: String, sentinels: [Address])
        /// Any node of the cluster knows which one has our keys at present.
        case cluster(seeds: [Address])
    }

    /// The port of a server that the URL names without one.
    public static let defaultPort = 6379

    /// The port of a sentinel that the URL names without one.
    public static let defaultSentinelPort = 26_379

    /// How the server is found.
    public let topology: Topology

    /// Whether connections are encrypted and the servers' certificates verified.
    public let usesTLS: Bool

    /// The user for AUTH; nil means the server's default user.
    public internal(set) var user: String?

    /// The password for AUTH; nil means no AUTH.
    public internal(set) var password: String?

    /// The number of the database for SELECT.
    public let database: Int

    /// Reads a URL in one of the seven forms.
    ///
    /// Throws ``RedisError/Code/invalidURL`` with the part that is wrong and what is allowed there.
    /// The message shows neither the whole text nor the password.
    public init(_ string: String) throws(RedisError) {
        let parser = try RedisURLParser(string)
        topology = try parser.topology()
        usesTLS = parser.scheme.usesTLS
        (user, password) = try parser.login()
        database = try parser.database()
    }

    /// The addresses without login and database, for messages and logs.
    var place: String {
        switch topology {
        case .standalone(let address): address.place
        case .sentinel(let master, let sentinels): "\(Self.list(sentinels))/\(master)"
        case .cluster(let seeds): Self.list(seeds)
        }
    }

    private static func list(_ addresses: [Address]) -> String {
        addresses.map(\.place).joined(separator: ",")
    }
}

extension RedisURL.Address {
    /// The address as a URL has it.
    var place: String {
        switch self {
        case .tcp(let host, let port):
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): path
        }
    }
}

extension RedisURL: CustomStringConvertible, CustomReflectable {
    /// The URL with `***` for the password.
    public var description: String {
        let login = password == nil ? "" : "\(user ?? ""):***@"
        let scheme = usesTLS ? "rediss" : "redis"
        return switch topology {
        case .standalone(.tcp): "\(scheme)://\(login)\(place)/\(database)"
        case .standalone(.unixSocket): "unix://\(login)\(place)?db=\(database)"
        case .sentinel: "\(scheme)+sentinel://\(login)\(place)/\(database)"
        case .cluster: "\(scheme)+cluster://\(login)\(place)"
        }
    }

    /// Only the description, because `dump` and test failures print what a mirror shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["url": description])
    }
}
