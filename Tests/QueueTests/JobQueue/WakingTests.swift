import Edits
import Logging
import Redis
import Testing

@testable import JobQueue

/// Tokens wake workers: as many as there is work for.
@Suite("Waking") struct WakingTests {
    /// Takes all tokens; how many there were.
    private func tokens(_ q: QueueFixture, _ list: String = "wake") async throws -> Int {
        let key = RedisArgument(q.queue.name.keys.prefix + list)
        let taken = try await q.redis.send(["LPOP", key, "100"])
        return taken.array?.count ?? 0
    }

    @Test func `each job that is taken in wakes one, sixteen at most`() async throws {
        let q = try await QueueFixture()
        try await q.admit("1", "2", "3")
        #expect(try await tokens(q) == 3)
        try await q.admit("4")
        #expect(try await tokens(q) == 1)
        for id in 10..<50 {
            try await q.xadd(["id": "\(id)", "asset": "\(id)", "edit": QueueFixture.recipe])
        }
        _ = try await q.queue.admit()
        #expect(try await tokens(q) == 16)
    }

    @Test func `tokens that nobody has taken count`() async throws {
        let q = try await QueueFixture()
        try await q.admit("1", "2")
        try await q.admit("3")
        #expect(try await tokens(q) == 2)
    }

    @Test func `a claim that leaves jobs wakes one for each`() async throws {
        let q = try await QueueFixture()
        try await q.admit("1", "2", "3", "4")
        #expect(try await tokens(q) == 4)
        _ = try await q.claim()
        #expect(try await tokens(q) == 3)
        #expect(try await q.queue.claim(by: "w", count: 3).jobs.count == 3)
        #expect(try await tokens(q) == 0)
    }

    @Test func `the end of a job wakes one for the next of its asset`() async throws {
        let q = try await QueueFixture()
        for id in ["1", "2"] {
            try await q.xadd(["id": id, "asset": "a", "edit": QueueFixture.recipe])
        }
        _ = try await q.queue.admit()
        let first = try await q.claim()
        #expect(try await q.queue.claim(by: "sleeper", count: 1).jobs.isEmpty)
        _ = try await tokens(q)
        try await q.finish(first)
        #expect(try await tokens(q) == 1)
    }

    @Test func `a job that is due wakes one`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let failure = Failure(.ioFailure, "")
        _ = try await q.queue.fail(q.claim(), by: "w", failure, random: 1)
        _ = try await tokens(q)
        #expect(try await q.queue.admit().next ?? .zero > .zero)
        #expect(try await tokens(q) == 0)
        try await q.harm(["ZADD delayed XX 1 a"])
        #expect(try await q.queue.admit().next == nil)
        #expect(try await tokens(q) == 1)
        #expect(try await q.claim().job == "a")
    }

    @Test func `a pause that ends, and a cap that is lifted, wake`() async throws {
        let q = try await QueueFixture()
        try await q.queue.set([.paused("no")])
        try await q.admit("a")
        #expect(try await q.queue.claim(by: "sleeper", count: 1).jobs.isEmpty)
        _ = try await tokens(q)
        try await q.queue.set([.paused(nil), .cap(nil, 0)])
        #expect(try await tokens(q) == 1)
        #expect(try await q.queue.claim(by: "sleeper", count: 1).jobs.isEmpty)
        try await q.queue.set([.cap(nil, nil)])
        #expect(try await tokens(q) == 1)
        #expect(try await q.claim().job == "a")
    }

    @Test func `a worker that sleeps hears a token, and one that cannot claim passes it on`()
        async throws
    {
        let q = try await QueueFixture()
        let client = try q.client()
        async let woken = q.queue.sleep(atMost: .seconds(60), on: client)
        try await q.queue.wakeAnother()
        #expect(try await woken)
        #expect(try await tokens(q) == 0)
    }

    @Test func `a worker that leaves a job wakes one that can do it, and not itself`() async throws
    {
        let q = try await QueueFixture()
        for worker in ["unable", "able"] { try await q.hear(worker) }
        try await q.admit("avif")
        _ = try await q.queue.passOn(
            q.claim(by: "unable"), by: "unable", Failure(.formatUnavailable, "no encoder."),
            needing: .otherMachine, .init())
        _ = try await tokens(q)
        let left = try await q.queue.claim(by: "unable", count: 1)
        #expect(left.jobs.isEmpty && left.leavesJobs && !left.hasMore)
        let client = try q.client()
        #expect(
            try await !q.queue.sleep(atMost: .milliseconds(1), afterLeaving: true, on: client))
        #expect(try await q.queue.sleep(atMost: .seconds(60), on: client))
        #expect(try await q.claim(by: "able").job == "avif")
    }

    @Test func `a job that is passed on wakes another worker beside its own`() async throws {
        let q = try await QueueFixture()
        for worker in ["unable", "able"] { try await q.hear(worker) }
        try await q.admit("avif")
        let claim = try await q.claim(by: "unable")
        _ = try await tokens(q)
        _ = try await q.queue.passOn(
            claim, by: "unable", Failure(.formatUnavailable, "no encoder."),
            needing: .otherMachine, .init())
        #expect(try await tokens(q) == 2)
    }

    @Test func `a worker that sleeps finds that changed caps wait to be checked`() async throws {
        let q = try await QueueFixture()
        #expect(try await !q.queue.hasClaimable())
        // The worker that began with it died, and no flow that it has checked is served.
        try await q.harm(["HSET virtual recheck 0"])
        #expect(try await q.queue.hasClaimable())
        #expect(try await q.queue.claim(by: "a", count: 1).jobs.isEmpty)
        #expect(try await !q.queue.hasClaimable())
    }

    @Test func `a worker that leaves a job of a later format wakes a newer one`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.harm(["HSET job:a format 99"])
        _ = try await tokens(q)
        #expect(try await q.queue.claim(by: "old", count: 1).leavesJobs)
        #expect(try await tokens(q) == 0)
        #expect(try await tokens(q, "wake:others") == 1)
    }
}
