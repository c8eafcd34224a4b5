/// The rules for commands on a connection that several callers share.
enum CommandRules {
    /// Commands whose reply is not a single one, or which change the connection for other callers (login, database, protocol,
    /// transaction).
    private static let unshareable: Set<String> = [
        "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE",
        "MONITOR", "SYNC", "PSYNC", "HELLO", "RESET", "QUIT", "AUTH", "SELECT", "MULTI", "EXEC",
        "DISCARD", "WATCH", "UNWATCH",
    ]

    /// The length of the longest entry of ``unshareable``, so that longer names need no check.
    private static let unshareableBytesMax = 12

    static func check(
        _ arguments: [RedisArgument], configuration: RedisConfiguration
    ) throws(RedisError) {
        guard let name = arguments.first, name.bytesMax > 0 else {
            throw RedisError(
                .invalidCommand, "A Redis command has at least a name; this one has none.")
        }
        let bytes = arguments.reduce(0) { $0 + $1.bytesMax }
        guard bytes <= configuration.commandBytesMax else {
            throw RedisError(
                .invalidCommand,
                "\(name.text) has \(bytes) bytes of arguments; at most "
                    + "\(configuration.commandBytesMax) are allowed. Keep large data in files.")
        }
        guard name.bytesMax <= unshareableBytesMax else { return }
        let command = name.text.uppercased()
        guard !unshareable.contains(command),
            command != "CLIENT" || arguments.dropFirst().first?.text.uppercased() != "REPLY"
        else {
            throw RedisError(
                .invalidCommand,
                "\(command) cannot be used on a connection that many callers share: set login and "
                    + "database in the URL, and use a script instead of a transaction.")
        }
    }
}
