import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Cancel") struct CancelTests {
    @Test(arguments: [
        ("ready", JobQueue.Cancellation.cancelled), ("delayed", .cancelled), ("active", .notified),
        ("committing", .publishing), ("done", .ended), ("dead", .ended),
    ])
    func `what follows from cancelling a job depends on where it is, and is answered`(
        state: String, answer: JobQueue.Cancellation
    ) async throws {
        let q = try await QueueFixture()
        try await q.prepare(state)
        #expect(try await q.queue.cancel(["a"], reason: "not wanted") == [answer])
        try await q.expectHealthy()
        #expect(try await q.state(of: "a") == (answer == .cancelled ? "done" : state))
        // Whoever waits for its asset goes on.
        #expect(
            try await q.state(of: "b")
                == (["active", "committing"].contains(state) ? "parked" : "ready"))
        let reported = try await q.events().filter { $0.name == "cancelled" }
        #expect(reported.count == (answer == .cancelled ? 1 : 0))
    }

    @Test func `a parked job is cancelled, and an unknown one is told of`() async throws {
        let q = try await QueueFixture()
        try await q.prepare("active")
        #expect(
            try await q.queue.cancel(["b", "nobody", "b:1", "b:007"], reason: "no")
                == [.cancelled, .unknown, .unknown, .unknown])
        #expect(try await q.queue.cancel(["b"], reason: "no") == [.ended])
        try await q.expectHealthy()
    }

    @Test(arguments: ["conclude", "fail", "release", "reap"])
    func
        `a job that was cancelled while it ran ends as cancelled, however its worker lets go of it`(
            end: String
        ) async throws
    {
        let q = try await QueueFixture(
            settings: end == "reap" ? QueueFixture.expiredAtOnce : QueueSettings())
        try await q.admit("a")
        let claim = try await q.claim()
        #expect(try await q.queue.cancel(["a"], reason: "not wanted") == [.notified])
        #expect(try await q.queue.commit(claim, q.event(claim), isDraft: false) == .cancelled)
        switch end {
        case "conclude": _ = try await q.queue.concludeCancelled(claim)
        case "fail":
            _ = try await q.queue.fail(claim, by: "w", Failure(.ioFailure, "x"), random: 1)
        case "release":
            _ = try await q.queue.release(job: "a", fence: claim.fence, .shutdown)
        default: _ = try await q.queue.reap(by: "other")
        }
        #expect(try await q.queue.outcome(of: "a") != nil)
        let event = try #require(try await q.events().first)
        guard case .cancelled(let data) = event.data else { Issue.record("\(event)"); return }
        #expect(data.reason == "not wanted")
        try await q.expectHealthy()
    }

    @Test func `all jobs of a tenant are cancelled while others go from place to place`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit(900, ["tenant": "zoo"])
        try await q.admit(900, ["tenant": "acme"])
        // All are delayed, those of both in turn; the others' become due meanwhile.
        for claim in try await q.claim(1800, atOnce: 200) {
            _ = try await q.queue.fail(claim, by: "w", Failure(.ioFailure, "x"), random: 1)
        }
        let promoting = Task {
            while !Task.isCancelled {
                let key = RedisArgument("\(q.queue.name.keys.prefix)delayed")
                let head = try await q.redis.send(["ZRANGE", key, "0", "9"]).array ?? []
                for id in head.compactMap(\.string) {
                    _ = try await q.redis.send(["ZADD", key, "XX", "1", RedisArgument(id)])
                }
                _ = try await q.queue.promote()
            }
        }
        let result = try await q.queue.cancelJobs(of: try JobID("acme"), reason: "no")
        promoting.cancel()
        _ = await promoting.result
        #expect(result.cancelled == 900)
        #expect(try await q.queue.status().counters["cancelled"] == 900)
    }

    @Test func `jobs of a later release in front keep no others of their tenant`() async throws {
        let q = try await QueueFixture()
        let later = JobQueue.cancelMax + 5
        try await q.admit(later, ["tenant": "acme", "priority": "bulk"])
        let flow = RedisArgument(q.queue.name.keys.ready("bulk", "acme"))
        let ids = try await q.redis.send(["ZRANGE", flow, "0", "-1"]).array ?? []
        for id in ids.compactMap(\.string) {
            let key = RedisArgument(q.queue.name.keys.job(id))
            _ = try await q.redis.send(["HSET", key, "format", "99"])
        }
        try await q.admit(3, ["tenant": "acme", "priority": "bulk"])
        let result = try await q.queue.cancelJobs(of: try JobID("acme"), reason: "no")
        #expect(result.cancelled == 3)
        #expect(try await q.redis.send(["ZCARD", flow]).int.map(Int.init) == later)
    }

    @Test func `members that wait behind many running ones end with their batch`() async throws {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 500)
        while try await q.queue.status()[.ready] < 500 { _ = try await q.queue.admit() }
        let running = JobQueue.cancelMax + 5
        #expect(try await q.claim(running, atOnce: 50).count == running)
        let (answer, open) = try await q.queue.cancelWhole(batch, reason: "stop")
        #expect(answer == .cancelled && open == running)
        #expect(try await q.queue.status()[.ready] == 0)
        #expect(try await q.queue.record(of: batch)?.cancelled == 500 - running)
        try await q.expectHealthy()
    }

    @Test func `a cancelled batch is gone from its lane at once, and publishes nothing more`()
        async throws
    {
        var settings = QueueSettings()
        settings.window = 10
        let q = try await QueueFixture(settings: settings)
        let batch = try await q.open("b", members: 100)
        _ = try await q.queue.admit()
        let held = try await q.claim(3)
        try await q.finish(held[0])
        _ = try await q.queue.commit(held[1], q.event(held[1]), isDraft: false)
        #expect(try await q.queue.cancel(batch, reason: "stop") == (.cancelled, open: 2))
        let status = try await q.queue.status()
        #expect(status[.lane] == 0)
        #expect(status[.ready] == 0)
        try await q.expectHealthy()
        // What was being published is; what was not, is not.
        #expect(try await q.queue.finalize(job: held[1].job, fence: held[1].fence) == .held)
        #expect(try await q.queue.commit(held[2], q.event(held[2]), isDraft: false) == .cancelled)
        #expect(try await q.queue.concludeCancelled(held[2]) == .held)
        let end = try await q.events().compactMap {
            if case .batchCompleted(let data) = $0.data { data } else { nil }
        }
        #expect(end.map(\.completed) == [2])
        #expect(end.map(\.cancelled) == [98])
        #expect(try await q.queue.cancel(batch, reason: "again").0 == .ended)
        try await q.expectHealthy()
    }

    @Test func `jobs of a cancelled batch that wait behind others end in their turn`() async throws
    {
        let q = try await QueueFixture()
        let batch = try BatchID("b")
        try await q.queue.open(BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.add(
            (0..<6).map { _ in .init(asset: try AssetPath("same")) }, to: batch, from: 0)
        try await q.queue.seal(batch, jobs: 6)
        _ = try await q.queue.admit()
        let held = try await q.claim()
        #expect(try await q.queue.cancel(batch, reason: "stop").open == 1)
        #expect(try await q.queue.status()[.parked] == 0)
        try await q.expectHealthy()
        #expect(try await q.queue.concludeCancelled(held) == .held)
        #expect(try await q.events().last?.name == "completed")
        try await q.expectHealthy()
    }
}
