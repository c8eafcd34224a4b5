import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Batches beside many idle ones") struct IdleBatchTests {
    /// How often Redis ran a command since the server was started, whoever asked.
    private func calls(_ command: String, _ q: QueueFixture) async throws -> Int {
        let stats = try await q.redis.send(["INFO", "commandstats"]).string ?? ""
        for line in stats.split(whereSeparator: \.isNewline)
        where line.hasPrefix("cmdstat_\(command):calls=") {
            return Int(line.split(separator: "=")[1].prefix { $0.isNumber }) ?? 0
        }
        return 0
    }

    /// A queue with so many open batches that have no entries, on a server of its own.
    private func queue(
        idle count: Int, _ change: (inout QueueSettings) -> Void = { _ in }
    ) async throws -> QueueFixture {
        var settings = QueueSettings()
        change(&settings)
        let q = try await QueueFixture(on: try await RedisServer.start(), settings: settings)
        for start in stride(from: 0, to: count, by: 500) {
            let commands: [[RedisArgument]] = (start..<min(count, start + 500)).map {
                [
                    "XADD", RedisArgument(q.queue.name.keys.ingress), "*", "batch",
                    RedisArgument("idle-\($0)"), "edit", RedisArgument(QueueFixture.recipe),
                ]
            }
            for result in await q.redis.sendAll(commands) { _ = try result.get() }
        }
        while try await q.queue.admit().admitted > 0 {}
        // Those that were opened last have not been looked at yet.
        _ = try await q.queue.admit()
        return q
    }

    @Test func `a batch of three does not wait for looks at 10,000 idle ones`()
        async throws
    {
        let q = try await queue(idle: 10_000) { $0.checkPace = .seconds(3600) }
        defer { q.server.stop() }
        let (looks, scripts) = (try await calls("xlen", q), try await calls("evalsha", q))
        try await q.open("zz", members: 3, sealed: 3)
        _ = try await q.queue.admit()
        // One to add, admit, and feed; two of them are sent twice, since the server has not got them yet.
        #expect(try await calls("evalsha", q) - scripts <= 5)
        #expect(try await calls("xlen", q) - looks <= 20)
        #expect(try await q.queue.status()[.ready] == 3)
        for claim in try await q.claim(3) { try await q.finish(claim) }
        #expect(try await q.queue.record(of: BatchID("zz"))?.isComplete == true)
    }

    @Test func `entries that came by a plain XADD are found in one turn, and looks are paced`()
        async throws
    {
        let q = try await queue(idle: 3000) { $0.checkPace = .zero }
        defer { q.server.stop() }
        try await q.addToBatchStream(of: "idle-2999", ["asset": "a"])
        let scripts = try await calls("evalsha", q)
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await calls("evalsha", q) - scripts <= 6)
        #expect(try await q.claim().job == "idle-2999:0")

        var settings = QueueSettings()
        settings.checkPace = .seconds(3600)
        let paced = JobQueue(name: q.queue.name, redis: q.redis, settings: settings)
        try await q.addToBatchStream(of: "idle-7", ["asset": "b"])
        let looks = try await calls("xlen", q)
        for _ in 0..<50 { _ = try await paced.admit() }
        #expect(try await calls("xlen", q) - looks <= 3000, "the rest of one turn at most")
    }

    @Test func `a full window costs callers nothing until members end, and is filled again then`()
        async throws
    {
        let q = try await queue(idle: 0) { $0.window = 16 }
        defer { q.server.stop() }
        try await q.open("b", members: 40, sealed: 40)
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.queue.status()[.ready] == 16)
        let scripts = try await calls("evalsha", q)
        for _ in 0..<20 { #expect(try await q.queue.admit().admitted == 0) }
        #expect(try await calls("evalsha", q) - scripts == 20, "no feed")
        try await q.finish(try await q.claim())
        #expect(try await q.queue.admit().admitted == 0, "an eighth of the window is not free yet")
        try await q.finish(try await q.claim())
        #expect(try await q.queue.admit().admitted == 2)
        try await q.runToTheEnd()
        #expect(try await q.queue.record(of: BatchID("b"))?.done == 40)
        try await q.expectHealthy()
    }

    @Test func `lanes that an earlier version left are sorted out by the first feeds`() async throws
    {
        let q = try await QueueFixture()
        try await q.open("idle", members: 0)
        try await q.open("full", members: 3, cap: 1)
        _ = try await q.queue.admit()
        try await q.harm([
            "HDEL batch:full refill", "HDEL batch:idle fed",
            "ZADD lanes 1763700000000000 idle 1763700000000000 full",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.field("refill", of: "batch:full") == "0")
        try await q.runToTheEnd()
        #expect(try await q.queue.record(of: BatchID("full"))?.done == 3)
        try await q.expectHealthy()
    }
}
