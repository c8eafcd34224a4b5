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
        let refusal = try await q.queue.refusal()
        #expect(refusal.contains("allkeys-lru") && refusal.contains("noeviction"), "\(refusal)")
        server.stop()
    }

    @Test func `a server without an append-only file is told about`() async throws {
        let q = try await QueueFixture(on: try await RedisServer.start())
        _ = try await q.redis.send(["CONFIG", "SET", "appendonly", "no"])
        let warnings = try await q.queue.checkServer(as: .worker)
        #expect(warnings.count == 1 && warnings[0].contains("append-only"), "\(warnings)")
    }

    @Test func `jobs and their order survive a restart of the server`() async throws {
        let server = try await RedisServer.start(syncsEachWrite: true)
        let q = try await QueueFixture(on: server)
        try await q.admit("a", "b", "c")
        let held = try await q.claim()
        try await q.xadd(["id": "d", "asset": "d", "edit": QueueFixture.recipe])
        server.kill(SIGKILL)
        try await server.waitForEnd()
        try await server.launch()
        try await q.reconnect()
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
