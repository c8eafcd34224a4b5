import Edits
import FoundationEssentials
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Reap and replay") struct ReapTests {
    @Test func `a job whose lease holds is left alone`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        _ = try await q.claim()
        let reaped = try await q.queue.reap(by: "other")
        #expect(reaped.ready == 0 && reaped.dead == 0 && reaped.carried.isEmpty)
        #expect(try await q.state(of: "a") == "active")
    }

    @Test func `a lost lease costs a crash and no attempt`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        try await q.confirm(try await q.claim())
        #expect(try await q.queue.reap(by: "other").ready == 1)
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(record.crashes == 1)
        #expect(record.attempts == 0)
        #expect(try await q.queue.attempts(of: "a").map(\.code) == [.workerLost])
    }

    @Test(arguments: ["fetching", "waiting"])
    func `a worker that dies before it begins with a job costs that no crash, ten times at most`(
        _ stage: String
    ) async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        for number in 1...11 {
            try await q.confirm(try await q.claim(), stage: stage)
            #expect(try await q.queue.reap(by: "other").ready == 1)
            let record = try #require(try await q.queue.record(of: "a"))
            #expect(record.crashes == (number > q.queue.settings.voidsMax ? 1 : 0))
        }
        let message = try #require(try await q.queue.attempts(of: "a").last?.message)
        #expect(
            message.contains("before it began with the job (\(stage)); that was void claim 1 of"))
    }

    @Test func `a job over which workers die too often is dead`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        for _ in 1...3 {
            try await q.confirm(try await q.claim(by: "victim"))
            _ = try await q.queue.reap(by: "other")
        }
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(record.state == .dead)
        #expect(record.code == .workerLost)
        let event = try #require(try await q.events().first)
        guard case .failed(let data) = event.data else { Issue.record("\(event)"); return }
        #expect(data.error.code == .workerLost)
        #expect(data.worker == "victim")
        #expect(data.attempt == 3)
    }

    @Test func `a last crash does not wait for the silence of a worker that was restarted`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("j")
        try await q.setField("crashes", of: "job:j", "2")
        try await q.confirm(try await q.claim())
        // The worker lives, and may have been cut off.
        try await q.hear("a")
        try await q.harm(["ZADD lease 1 j"])
        #expect(try await q.queue.reap(by: "other").dead == 0)
        #expect(try await q.state(of: "j") == "active")
        // Another process beats under its name, for ever.
        try await q.hear("a", since: "2026-01-02T00:00:00Z")
        try await q.harm(["ZADD lease 1 j"])
        #expect(try await q.queue.reap(by: "other").dead == 1)
        let record = try #require(try await q.queue.record(of: "j"))
        #expect(record.state == .dead && record.crashes == 3)
        #expect(try await q.queue.diagnose().isHealthy)
    }

    @Test func `a job between commit and finalize is given to whoever finds it`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        let claim = try await q.claim(by: "victim")
        _ = try await q.queue.commit(claim, q.event(claim, version: "1-7"), isDraft: false)
        let carried = try #require(try await q.queue.reap(by: "heir").carried.first)
        #expect(carried.job == "a")
        #expect(carried.version.name == "1-7")
        #expect(carried.fence != claim.fence)
        #expect(try await q.queue.finalize(job: "a", fence: claim.fence) == .fenced)
        #expect(try await q.queue.finalize(job: "a", fence: carried.fence) == .held)
        let events = try await q.events()
        #expect(events.map(\.name) == ["completed"])
    }

    @Test func `a replayed job is a new generation at the end of the queue`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        _ = try await q.queue.fail(q.claim(), by: "w", Failure(.missingAsset, "no"), random: 0)
        try await q.admit("b")
        #expect(try await q.queue.replay(["a", "b", "nobody"]) == [.replayed, .notDead, .unknown])
        #expect(try await q.claim().job == "b")
        let again = try await q.claim()
        #expect(again.job == "a")
        #expect(again.generation == 2)
        #expect(again.attempt == 1)
        try await q.finish(again)
        #expect(
            try await q.events().map(\.id) == [
                "\(q.queue.name)/a/1/failed", "\(q.queue.name)/a/2/completed",
            ])
        #expect(try await q.queue.attempts(of: "a").count == 1)
    }

    @Test func `a job whose envelope was wrong cannot be replayed`() async throws {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["asset": "a.jpg"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.replay([entry]) == [.malformed])
    }

    @Test func `Lua's dates are those of the calendar`() async throws {
        let q = try await QueueFixture()
        let script = QueueScript.script(
            "dates", Array("return timestamp(tonumber(ARGV[4]))".utf8))
        var random = SeededGenerator()
        random.printSeed()
        for _ in 0..<200 {
            let milliseconds = Int.random(in: 0..<4_102_444_800_000, using: &random)
            let text = try await q.redis.send([
                "EVAL", RedisArgument(script.source), "0", "{p}", "1", "1", .init(milliseconds),
            ]).string
            let expected = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(
                .iso8601)
            #expect(text?.prefix(19) == expected.prefix(19), "\(milliseconds)")
        }
    }
}
