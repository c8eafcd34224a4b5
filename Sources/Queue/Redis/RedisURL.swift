/// The address of Redis and the login.
///
/// Seven forms, in which user, password and path are percent-encoded:
///
///     redis://[user:password@]host[:port][/database]
///     unix://[user:password@]/path/to/redis.sock[?db=database]
///     redis+sentinel://[user:password@]host[:port][,host[:port]…]/master[/database]
///     redis+cluster://[user:password@]host[:port][,host[:port]…]
///     rediss://, rediss+sentinel://, rediss+cluster://       the same over TLS
///
/// The user may be empty: `redis://:password@host`. Sentinels receive the same login as the servers.
public struct RedisURL: Sendable, Hashable {
    /// The address of one server.
    public enum Address: Sendable, Hashable {
        /// A host name, an IPv4 address or an IPv6 address without brackets.
        case tcp(host: String, port: Int)
        /// A Unix domain socket in the file system.
        case unixSocket(path: String)
    }

    /// The way in which the client finds the server for its commands.
    public enum Topology: Sendable, Hashable {
        /// The server is always this one.
        case standalone(Address)
        /// Any of the sentinels knows the present master of that name.
        case sentinel(master: String, sentinels: [Address])
        /// Any node of the cluster knows the node that has the client's keys at present.
        case cluster(seeds: [Address])
    }

    /// The default port of a server.
    public static let defaultPort = 6379

    /// The default port of a sentinel.
    public static let defaultSentinelPort = 26_379

    /// The way in which the server is found.
    public let topology: Topology

    /// Whether connections are encrypted and the servers' certificates verified.
    public let usesTLS: Bool

    /// The user for AUTH; nil means the server's default user.
    public internal(set) var user: String?

    /// The password for AUTH; nil means no AUTH.
    public internal(set) var password: String?

    /// The number of the database for SELECT.
    public let database: Int

    /// Decodes a URL in one of the seven forms.
    ///
    /// Throws ``RedisError/Code/invalidURL`` with the wrong part and its permitted values. The message contains neither the whole
    /// text nor the password.
    public init(_ string: String) throws(RedisError) {
        let parser = try RedisURLParser(string)
        topology = try parser.topology()
        usesTLS = parser.scheme.usesTLS
        (user, password) = try parser.login()
        database = try parser.database()
    }

    /// The addresses without login and database, for messages and logs.
    var location: String {
        switch topology {
        case .standalone(let address): address.location
        case .sentinel(let master, let sentinels): "\(Self.list(sentinels))/\(master)"
        case .cluster(let seeds): Self.list(seeds)
        }
    }

    private static func list(_ addresses: [Address]) -> String {
        addresses.map(\.location).joined(separator: ",")
    }
}

extension RedisURL.Address {
    /// The address in the form of a URL.
    var location: String {
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
        case .standalone(.tcp): "\(scheme)://\(login)\(location)/\(database)"
        case .standalone(.unixSocket): "unix://\(login)\(location)?db=\(database)"
        case .sentinel: "\(scheme)+sentinel://\(login)\(location)/\(database)"
        case .cluster: "\(scheme)+cluster://\(login)\(location)"
        }
    }

    /// Only the description, because `dump` and test failures print the contents of a mirror.
    public var customMirror: Mirror {
        Mirror(self, children: ["url": description])
    }
}
