import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Quarantine") struct QuarantineTests {
    /// Lets a job crash often enough to be in quarantine, and be ready again.
    private func quarantine(_ q: QueueFixture) async throws {
        for _ in 1...2 {
            _ = try await q.queue.promote()
            let claim = try #require(
                try await q.queue.claim(by: "victim", count: 1).jobs.first { $0.job == "bad" })
            _ = try await q.queue.fail(claim, by: "victim", Failure(.renderCrashed, "9"), random: 0)
        }
        #expect(try await q.queue.promote() == 1)  // it was delayed by nothing
        #expect(try await q.queue.record(of: "bad")?.priority == "alone")
    }

    @Test func `a job over which two workers died is given to one that holds nothing else`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        let busy = try await q.queue.claim(by: "busy", count: 3, isIdle: false)
        #expect(busy.jobs.isEmpty)
        let idle = try await q.queue.claim(by: "idle", count: 3, isIdle: true)
        #expect(idle.jobs.map(\.job) == ["bad"])
        #expect(idle.jobs.first?.isQuarantined == true)
        try await q.expectHealthy()
    }

    @Test func `it is given alone, and other workers are woken for those that wait`() async throws {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        try await q.admit(40, [:])
        var sizes: [Int] = []
        for _ in 0..<20 {
            let wake = RedisArgument(q.queue.name.keys.wake)
            _ = try await q.redis.send(["DEL", wake])
            let claims = try await q.queue.claim(by: "w", count: 5, isIdle: true).jobs
            guard claims.contains(where: \.isQuarantined) else { continue }
            sizes.append(claims.count)
            #expect(try await q.redis.send(["LLEN", wake]).int == 16)
        }
        #expect(sizes == [1])
    }

    @Test func `one worker is asked to become idle for it, the others go on`() async throws {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        try await q.admit(200, [:])
        var asked: [String] = []
        for round in 0..<40 {
            let worker = round % 2 == 0 ? "one" : "two"
            if asked.contains(worker) { continue }
            let claims = try await q.queue.claim(by: worker, count: 2, isIdle: false)
            #expect(claims.jobs.count { $0.isQuarantined } == 0)
            if claims.requiresIdle { asked.append(worker) } else { #expect(claims.jobs.count == 2) }
        }
        let worker = try #require(asked.first)
        #expect(asked.count == 1)
        let claims = try await q.queue.claim(by: worker, count: 2, isIdle: true)
        #expect(claims.jobs.map(\.job) == ["bad"])
        try await q.expectHealthy()
    }

    @Test func `the worker that was asked stays asked while it is heard of, and no longer`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        func asks(_ worker: String) async throws -> Bool {
            try await q.queue.claim(by: worker, count: 1, isIdle: false).requiresIdle
        }
        #expect(try await asks("a"))
        _ = try await q.queue.beat([], by: QueueFixture.worker)
        // Its renders take longer than a lease.
        try await q.harm(["HSET virtual aloneUntil 1"])
        #expect(try await !asks("two"))
        #expect(try await !asks("three"))
        #expect(try await asks("a"))
        try await q.harm(["HSET virtual aloneUntil 1", "ZADD workers 1 a"])
        #expect(try await asks("two"))
    }

    @Test func `another worker is asked when the one that was asked claims nothing any more`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        func asks(_ worker: String) async throws -> Bool {
            try await q.queue.claim(by: worker, count: 1, isIdle: false).requiresIdle
        }
        #expect(try await asks("a"))
        try await q.harm(["HSET virtual aloneUntil 1"])
        let away = QueueFixture.worker.with(
            busy: 0, memory: nil, pressure: nil, trouble: "the disk is away.")
        _ = try await q.queue.beat([], by: away)
        #expect(try await asks("two"))
    }

    @Test func `it waits no longer than a share of the turns, whatever else there is`() async throws
    {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        try await q.admit(100, ["priority": "interactive"])
        var turns = 0
        while turns < 100 {
            turns += 1
            if try await q.claim(by: "w").isQuarantined { break }
        }
        #expect(turns <= 16)
    }

    @Test func `a third crash is its end, and a replay takes it out of quarantine`() async throws {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "bad", "asset": "bad", "edit": QueueFixture.recipe, "priority": "bulk",
        ])
        _ = try await q.queue.admit()
        try await quarantine(q)
        let claim = try await q.claim()
        _ = try await q.queue.fail(claim, by: "w", Failure(.renderCrashed, "9"), random: 0)
        #expect(try await q.state(of: "bad") == "dead")
        try await q.expectHealthy()
        _ = try await q.queue.replay(["bad"])
        let record = try #require(try await q.queue.record(of: "bad"))
        #expect(record.priority == "bulk")
        #expect(record.crashes == 0)
        try await q.expectHealthy()
    }

    @Test func `no worker becomes idle for one whose tenant is at its cap`() async throws {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        try await q.admit("other")
        try await q.queue.set([.cap(JobID("default"), 1)])
        let held = try await q.queue.claim(by: "w", count: 1, isIdle: false)
        #expect(held.jobs.map(\.job) == ["other"])
        #expect(try await !q.queue.claim(by: "w", count: 1, isIdle: false).requiresIdle)
        try await q.finish(held.jobs[0])
        #expect(try await q.queue.claim(by: "w", count: 1, isIdle: false).requiresIdle)
    }

    @Test func `a job that was cancelled in quarantine leaves nobody waiting for it`() async throws
    {
        let q = try await QueueFixture()
        try await q.admit("bad")
        try await quarantine(q)
        #expect(try await q.queue.claim(by: "w", count: 1, isIdle: false).requiresIdle)
        _ = try await q.queue.cancel(["bad"], reason: "no")
        try await q.admit("good")
        #expect(
            try await q.queue.claim(by: "w", count: 1, isIdle: true).jobs.map(\.job) == ["good"])
        try await q.expectHealthy()
    }
}
