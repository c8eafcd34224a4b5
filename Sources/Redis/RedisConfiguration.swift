/// Where the server is and how long and how much a client waits for it.
public struct RedisConfiguration: Sendable {
    /// The server's address, login and database.
    public var url: RedisURL

    /// The name that `CLIENT LIST` shows for this client; empty means none. No spaces.
    public var name: String

    /// A PEM file with the authorities to trust for `rediss`; nil means those of the system.
    public var caCertificateFile: String?

    /// A PEM file with this client's certificate chain, for servers that ask for one.
    public var clientCertificateFile: String?

    /// A PEM file with the private key of ``clientCertificateFile``.
    public var clientKeyFile: String?

    /// The longest time from the start of a connection attempt at one server to the end of its login.
    public var connectTimeout: Duration = .seconds(5)

    /// The longest time for one sentinel to name the master; then the next one is asked.
    public var sentinelTimeout: Duration = .seconds(1)

    /// The deadline of a command that names none, counted from its call to its reply.
    public var commandTimeout: Duration = .seconds(5)

    /// The upper bound of the first wait before a reconnect; it doubles with each failure.
    public var backoffBase: Duration = .milliseconds(100)

    /// The upper bound of any wait before a reconnect.
    public var backoffMax: Duration = .seconds(20)

    /// The most commands that may wait for their replies at one time.
    public var pendingCommandsMax = 10_000

    /// The most bytes that one command's arguments may have together.
    public var commandBytesMax = 16 << 20

    /// The most bytes that one reply may have; a longer one ends the connection.
    ///
    /// The bytes are in memory three times while a reply is read, so photos do not belong in Redis.
    public var replyBytesMax = 16 << 20

    /// A configuration for the server at `url`, all else as its default says.
    public init(url: RedisURL, name: String = "") {
        self.url = url
        self.name = name
    }
}
