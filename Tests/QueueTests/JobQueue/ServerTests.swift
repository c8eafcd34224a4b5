import Edits
import Glibc
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("The Redis server") struct ServerTests {
    @Test func `a server that may evict keys is refused with the reason`() async throws {
        let server = try await RedisServer.start(
            arguments: ["--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"])
        let q = try await QueueFixture(on: server)
        let error = await #expect(throws: QueueError.self) { try await q.queue.checkServer() }
        #expect(error?.code == .unsafeServer)
        #expect(error?.message.contains("allkeys-lru") == true)
        #expect(error?.message.contains("noeviction") == true)
        server.stop()
    }

    @Test func `a server without an append-only file is told about`() async throws {
        let q = try await QueueFixture()
        #expect(try await q.queue.checkServer().first?.contains("append-only") == true)
    }

    @Test func `jobs and their order survive a restart of the server`() async throws {
        let server = try await RedisServer.start(appendOnly: true)
        let q = try await QueueFixture(on: server)
        try await q.admit("a", "b", "c")
        let held = try await q.claim()
        try await q.xadd(["id": "d", "asset": "d", "edit": QueueFixture.recipe])
        server.kill(SIGKILL)
        try await server.waitForEnd()
        try await server.launch()
        try await q.finish(held)
        _ = try await q.queue.admit()
        #expect(try await q.queue.claim(by: "w", count: 9).jobs.map(\.job) == ["b", "c", "d"])
        server.stop()
    }

    @Test func `an unreachable server is an error with its address`() async throws {
        var configuration = RedisConfiguration(url: try RedisURL("redis://127.0.0.1:1"))
        configuration.commandTimeout = .milliseconds(300)
        let redis = RedisClient(configuration, logger: Logger(label: "test"))
        let queue = JobQueue(name: .photos, redis: redis)
        let error = await #expect(throws: QueueError.self) { try await queue.status() }
        #expect(error?.code == .redis)
        #expect(error?.message.contains("127.0.0.1:1") == true)
        await redis.close()
    }
}
