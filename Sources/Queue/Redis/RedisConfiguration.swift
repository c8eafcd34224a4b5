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

    /// Creates a configuration for the server at `url`, with default values for all other settings.
    public init(url: RedisURL, name: String = "") {
        self.url = url
        self.name = name
    }
}
