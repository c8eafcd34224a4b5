import NIOCore
import NIOSSL

/// The address of the server, and the time and size limits of a client.
public struct RedisConfiguration: Sendable {
    /// The server's address, login and database.
    public var url: RedisURL

    /// The name of this client in `CLIENT LIST`; empty means none. It contains no spaces.
    public var name: String

    /// A PEM file with the certificate authorities to trust for `rediss`; nil means those of the system.
    public var caCertificateFile: String?

    /// A PEM file with this client's certificate chain, for servers that require one.
    public var clientCertificateFile: String?

    /// A PEM file with the private key of ``clientCertificateFile``.
    public var clientKeyFile: String?

    /// The longest time from the start of a connection attempt at one server to the end of its login.
    public var connectTimeout: Duration = .seconds(5)

    /// The longest time for one sentinel to name the master; then the next one is asked.
    public var sentinelTimeout: Duration = .seconds(1)

    /// The default deadline of a command, counted from its call to its reply.
    public var commandTimeout: Duration = .seconds(5)

    /// The upper bound of the first wait before a reconnect; it doubles with each failure.
    public var backoffBase: Duration = .milliseconds(100)

    /// The upper bound of any wait before a reconnect.
    public var backoffMax: Duration = .seconds(20)

    /// The maximum number of commands that may wait for their replies at one time.
    public var pendingCommandsMax = 10_000

    /// The maximum total size of one command's arguments, in bytes.
    public var commandBytesMax = 16 << 20

    /// The maximum size of one reply, in bytes; a longer one ends the connection.
    ///
    /// The bytes are in memory three times while a reply is decoded, so photos do not belong in Redis.
    public var replyBytesMax = 16 << 20

    public init(url: RedisURL, name: String = "") {
        self.url = url
        self.name = name
    }
}

extension RedisConfiguration {
    /// The time for which a dropped TLS connection may wait for the peer's close notification.
    private static let tlsShutdownTimeout = TimeAmount.seconds(1)

    /// Returns the TLS settings of a connection attempt; nil if the URL does not use TLS.
    ///
    /// It reads the files each time, so that renewed certificates apply from the next connection on.
    func tlsContext() throws(RedisError) -> NIOSSLContext? {
        guard url.usesTLS else { return nil }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.shutdownTimeout = Self.tlsShutdownTimeout
        guard (clientCertificateFile == nil) == (clientKeyFile == nil) else {
            throw RedisError(
                .invalidConfiguration,
                "A client certificate needs its key and a key its certificate: set both files.")
        }
        if let caCertificateFile {
            let certificates = try Self.read("CA certificate", caCertificateFile) {
                try NIOSSLCertificate.fromPEMFile($0)
            }
            tls.trustRoots = .certificates(certificates)
        }
        if let clientCertificateFile, let clientKeyFile {
            tls.certificateChain = try Self.read("client certificate", clientCertificateFile) {
                try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
            }
            tls.privateKey = try Self.read("client key", clientKeyFile) {
                .privateKey(try NIOSSLPrivateKey(file: $0, format: .pem))
            }
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw RedisError(
                .invalidConfiguration,
                "TLS cannot be set up with these certificates (\(error)): check that the client "
                    + "key belongs to the client certificate.")
        }
    }

    private static func read<Content>(
        _ what: String, _ path: String, _ body: (String) throws -> Content
    ) throws(RedisError) -> Content {
        do {
            return try body(path)
        } catch {
            throw RedisError(
                .invalidConfiguration,
                "The \(what) file \(path) cannot be read as PEM (\(error)): check path, "
                    + "permissions and content.")
        }
    }
}

extension RedisURL.Address {
    /// The host name to verify; nil for an IP address, which NIOSSL then takes from the socket.
    var tlsHostname: String? {
        guard case .tcp(let host, _) = self, socketAddress == nil else { return nil }
        return host
    }

    /// The server's socket address if the host is an IP address; nil for a name or a path.
    var socketAddress: SocketAddress? {
        guard case .tcp(let host, let port) = self else { return nil }
        // The initializer throws for any text that is not an IP address, which is the only question here.
        return try? SocketAddress(ipAddress: host, port: port)
    }
}

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

extension RedisURL {
    /// Returns the same servers with another login, for example from a password file.
    public func loggingIn(as user: String?, with password: String) -> RedisURL {
        var url = self
        url.user = user
        url.password = password
        return url
    }

    /// The hosts that receive login and jobs unencrypted over a network: all except loopback, sockets and servers with TLS.
    public var hostsInClear: [String] {
        guard !usesTLS else { return [] }
        let addresses =
            switch topology {
            case .standalone(let address): [address]
            case .sentinel(_, let sentinels): sentinels
            case .cluster(let seeds): seeds
            }
        return addresses.compactMap { address in
            guard case .tcp(let host, _) = address, !address.isLoopback else { return nil }
            return host
        }
    }
}

extension RedisURL.Address {
    /// Whether it is reached without leaving the machine.
    fileprivate var isLoopback: Bool {
        guard case .tcp(let host, _) = self else { return true }
        if host.lowercased() == "localhost" { return true }
        // A name may begin with 127., too; a host that is not an IP address is not loopback.
        guard let address = socketAddress?.ipAddress else { return false }
        return address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }
}
