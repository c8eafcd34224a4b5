import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// What a producer with the right to XADD alone can do beside adding; `ops/redis-users.conf` cannot forbid it.
@Suite("Streams that a producer harms") struct HarmedStreamTests {
    private let maximum = "18446744073709551615"

    private func send(
        _ q: QueueFixture, _ options: [String], _ asset: String, to key: String? = nil
    ) async throws {
        let words = ["XADD", key ?? q.queue.name.keys.ingress] + options
        _ = try await q.redis.send(
            words.map { RedisArgument($0) }
                + ["asset", RedisArgument(asset)]
                + (key == nil ? ["edit", RedisArgument(QueueFixture.recipe)] : []))
    }

    private func harms(_ q: QueueFixture) async throws -> [JobEvent.StreamHarmed] {
        try await q.events().compactMap { event in
            guard case .streamHarmed(let harm) = event.data else { return nil }
            return harm
        }
    }

    @Test(arguments: [
        (["MAXLEN", "0", "*"], 4), (["MAXLEN", "1", "*"], 3),
        (["MINID", "18000000000000", "*"], 4),
    ])
    func `entries that were dropped unread are counted and told, and admitted jobs stay`(
        options: [String], lost: Int
    ) async throws {
        let q = try await QueueFixture()
        try await q.admit("before")
        for asset in ["a", "b", "c"] { try await send(q, ["*"], asset) }
        try await send(q, options, "thief")
        _ = try await q.queue.admit()
        #expect(try await harms(q).map(\.kind) == [.trimmed])
        #expect(try await harms(q).first?.entries == lost)
        #expect(try await q.queue.status().counters["trimmed"] == lost)
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.hasPrefix("\(lost) entries of the ingress stream") })

        // Once, and admission goes on.
        try await q.admit("after")
        #expect(try await harms(q).count == 1)
        #expect(try await q.state(of: "before") == "ready")
        #expect(try await q.state(of: "after") == "ready")
        try await q.expectHealthy()
    }

    @Test func `entries that were dropped before the queue's first admission are told too`()
        async throws
    {
        let q = try await QueueFixture()
        try await send(q, ["*"], "a")
        try await send(q, ["MAXLEN", "0", "*"], "thief")
        _ = try await q.queue.admit()
        #expect(try await harms(q).first?.entries == 2)
    }

    @Test(arguments: ["18446744073709551615-18446744073709551615", "18446744073709551615-0"])
    func `a stream that an id has ended takes entries again, and what had arrived is admitted`(
        id: String
    ) async throws {
        var settings = QueueSettings()
        settings.admitMax = 2
        let q = try await QueueFixture(settings: settings)
        for asset in ["a", "b", "c"] { try await send(q, ["*"], asset) }
        try await send(q, [id], "thief")
        if id.hasSuffix(maximum) {
            await #expect(throws: RedisError.self) { try await send(q, ["*"], "honest") }
        }
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.queue.status()[.ready] == 4)
        #expect(try await harms(q).map(\.kind) == [.renewed])

        try await send(q, ["*"], "honest")
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await q.queue.status()[.ready] == 5)
        #expect(try await harms(q).count == 1)
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.contains("ended 1 times by an id in the far future") })
        try await q.expectHealthy()
    }

    @Test func `a new stream's ids are not those of jobs that are in already`() async throws {
        let q = try await QueueFixture()
        let honest = try await q.xadd(["asset": "a", "edit": QueueFixture.recipe])
        try await send(q, ["\(maximum)-\(maximum)"], "thief")
        while try await q.queue.admit().admitted > 0 {}
        var ids: Set<String> = [honest]
        for asset in ["b", "c", "d"] {
            ids.insert(try await q.xadd(["asset": asset, "edit": QueueFixture.recipe]))
        }
        _ = try await q.queue.admit()
        #expect(ids.count == 4)
        #expect(try await q.queue.status()[.ready] == 5)
    }

    @Test func `a stream that somebody deleted and a clock that is minutes ahead are no harm`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        _ = try await q.redis.send(["DEL", RedisArgument(q.queue.name.keys.ingress)])
        try await q.admit("c")
        let soon = try await q.queue.now() + 10 * 60 * 1000
        try await send(q, ["\(soon)-0"], "d")
        _ = try await q.queue.admit()
        #expect(try await harms(q).isEmpty)
        #expect(try await q.queue.status()[.ready] == 4)
    }

    @Test
    func `a Redis that wrote its file anew and started again still knows what left the stream`()
        async throws
    {
        let server = try await RedisServer.start(syncsEachWrite: true)
        let q = try await QueueFixture(on: server)
        try await q.admit("a", "b", "c")
        _ = try await q.redis.send(["BGREWRITEAOF"])
        _ = try await eventually("the file is written anew") {
            let info = try await q.redis.send(["INFO", "persistence"]).string ?? ""
            return info.contains("aof_rewrite_in_progress:0")
                && info.contains("aof_rewrite_scheduled:0") ? () : nil
        }
        try await server.restart()
        try await q.admit("d")
        #expect(try await harms(q).isEmpty)
        try await send(q, ["*"], "e")
        try await send(q, ["MAXLEN", "0", "*"], "thief")
        _ = try await q.queue.admit()
        #expect(try await harms(q).first?.entries == 2)
        server.stop()
    }

    @Test func `members that were dropped from a lane end cancelled, so the batch ends`()
        async throws
    {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 0, sealed: 4)
        let stream = q.queue.name.keys.batchStream(batch.string)
        for asset in ["a", "b", "c"] { try await send(q, ["*"], asset, to: stream) }
        try await send(q, ["MAXLEN", "1", "*"], "d", to: stream)
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await harms(q).map(\.stream) == ["lane:b"])
        try await q.finish(q.claim())
        let record = try #require(try await q.queue.record(of: batch))
        #expect((record.done, record.cancelled) == (1, 3))
        #expect(try await q.events().last?.name == "completed")
        try await q.expectHealthy()
    }

    @Test func `a lane that an id has ended takes members again once it is read`() async throws {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 0)
        let stream = q.queue.name.keys.batchStream(batch.string)
        try await send(q, ["\(maximum)-\(maximum)"], "a", to: stream)
        while try await q.queue.admit().admitted > 0 {}
        try await send(q, ["*"], "b", to: stream)
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.queue.status()[.ready] == 2)
        #expect(try await harms(q).map(\.kind) == [.renewed])
        try await q.expectHealthy()
    }
}
