/// The address of a Redis server, with login and database.
///
/// Three forms, in which user, password and path are percent-encoded:
///
///     redis://[user:password@]host[:port][/database]
///     rediss://[user:password@]host[:port][/database]        the same over TLS
///     unix://[user:password@]/path/to/redis.sock[?db=database]
///
/// The user may be empty: `redis://:password@host`.
public struct RedisURL: Sendable, Hashable {
    /// Where the server listens.
    public enum Address: Sendable, Hashable {
        /// A host name, an IPv4 address or an IPv6 address without brackets.
        case tcp(host: String, port: Int)
        /// A Unix domain socket in the file system.
        case unixSocket(path: String)
    }

    /// The port of a URL that names none.
    public static let defaultPort = 6379

    /// Where the server listens.
    public let address: Address

    /// Whether the connection is encrypted and the server's certificate verified.
    public let usesTLS: Bool

    /// The user for AUTH; nil means the server's default user.
    public let user: String?

    /// The password for AUTH; nil means no AUTH.
    public let password: String?

    /// The number of the database for SELECT.
    public let database: Int

    /// Reads a URL in one of the three forms.
    ///
    /// Throws ``RedisError/Code/invalidURL`` with the part that is wrong and what is allowed there.
    /// The message shows neither the whole text nor the password.
    public init(_ string: String) throws(RedisError) {
        let parser = try RedisURLParser(string)
        address = try parser.address()
        usesTLS = parser.scheme == .rediss
        (user, password) = try parser.login()
        database = try parser.database()
    }

    /// The address without login and database, for messages and logs.
    var place: String {
        switch address {
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
        switch address {
        case .tcp:
            return "\(usesTLS ? "rediss" : "redis")://\(login)\(place)/\(database)"
        case .unixSocket(let path):
            return "unix://\(login)\(path)?db=\(database)"
        }
    }

    /// Only the description, because `dump` and test failures print what a mirror shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["url": description])
    }
}
