/// One Redis for all tests of the process that neither stop, fill nor configure it; each has queues or keys of its own
/// names there.
public enum SharedRedis {
    private static let started = Started { try await RedisServer.start() }

    /// Returns the server; the first call starts it.
    public static func server() async throws -> RedisServer { try await started.value() }
}
