import Adjustments
import Foundation
import JobQueue
import Logging
import MinilabTesting
import Redis
import Testing

@Suite("Rights in Redis") struct RightsTests {
    /// The users of `ops/redis.conf`, as `redis-server` reads them from an ACL file.
    static func users(_ folder: TemporaryFolder) throws -> String {
        let url = Contract.folder.appending(path: "../ops/redis.conf")
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("user ") && !$0.hasPrefix("user default") }
        #expect(lines.count >= 4)
        let file = folder.file("users.acl")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: file))
        return file
    }

    @Test func `each user of ops/redis.conf can do its part, over TLS, and no more`() async throws {
        let folder = try TemporaryFolder()
        let certificates = try await TestCertificates()
        let server = try await RedisServer.start(
            certificates: certificates, arguments: ["--aclfile", try Self.users(folder)])
        func client(_ user: String) throws -> RedisClient {
            var configuration = RedisConfiguration(
                url: try RedisURL(
                    "rediss://\(user):change-me-\(user)@localhost:\(server.port)"))
            configuration.caCertificateFile = certificates.authority
            return RedisClient(configuration, logger: Logger(label: "test"))
        }
        let library = folder.file("library")
        try FileManager.default.createDirectory(
            atPath: library + "/originals", withIntermediateDirectories: true)
        try SyntheticPhoto.png(width: 30, height: 20)
            .write(to: URL(filePath: library + "/originals/a.png"))

        let producer = try client("producer")
        _ = try await producer.send([
            "XADD", "minilab:{photos}:in", "*", "asset", "a.png", "edit",
            #"{"filters":[{"name":"CISepiaTone"}]}"#,
        ])
        await #expect(throws: RedisError.self) { () async throws in
            _ = try await producer.send(["XRANGE", "minilab:{photos}:in", "-", "+"])
        }
        let worker = try MinilabProcess([
            "worker", "--library", library, "--redis-ca", certificates.authority, "--redis",
            "rediss://worker:change-me-worker@localhost:\(server.port)",
        ])
        var events = EventReader(queue: .photos, redis: try client("reader"))
        let entry = try await eventually("the reader hears of the job") {
            try await events.next(waiting: .seconds(1)).first
        }
        #expect(entry.event.type == "org.minilab.job.completed", "\(entry.json)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        await producer.close()
        server.stop()
    }
}
