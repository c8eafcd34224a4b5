import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Pardons") struct PardonTests {
    /// A queue whose leases are over at once, although workers that have beaten are heard of for an hour.
    private func fixture(
        _ change: (inout QueueSettings) -> Void = { _ in }
    ) async throws -> QueueFixture {
        var settings = QueueFixture.expiredAtOnce
        change(&settings)
        return try await QueueFixture(settings: settings)
    }

    /// Claims a job and confirms the claim.
    private func hold(_ q: QueueFixture) async throws -> Claim {
        let claim = try await q.claim()
        try await q.confirm(claim)
        return claim
    }

    @Test func `ten outages in a row count no crash against a job whose worker lived`() async throws
    {
        let q = try await fixture()
        try await q.admit("a")
        for _ in 1...10 {
            let claim = try await hold(q)
            #expect(try await q.queue.reap(by: "other").ready == 1)
            #expect(try await q.queue.pardon([claim.hold]) == .init(pardoned: 1))
        }
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(record.crashes == 0 && record.priority == "normal" && record.state == .ready)
        #expect(try await q.queue.status().counters["pardoned"] == 10)
        try await q.expectHealthy()
    }

    @Test func `ten claims in a row whose replies were lost count no crash, and the next one does`()
        async throws
    {
        let q = try await fixture()
        try await q.admit("a")
        for _ in 1...10 {
            _ = try await q.claim()
            #expect(try await q.queue.reap(by: "other").ready == 1)
        }
        #expect(try await q.queue.record(of: "a")?.crashes == 0)
        _ = try await q.claim()
        _ = try await q.queue.reap(by: "other")
        #expect(try await q.queue.record(of: "a")?.crashes == 1)
        try await q.expectHealthy()
    }

    @Test func `a job that kills its worker before the first heartbeat is buried in the end`()
        async throws
    {
        let q = try await fixture { $0.voidsMax = 2 }
        try await q.admit("a")
        var claims = 0
        while try await q.state(of: "a") != "dead" {
            claims += 1
            _ = try await q.claim(by: "w\(claims)")
            _ = try await q.queue.reap(by: "other")
        }
        #expect(claims == 5)
    }

    @Test func `a job that was in quarantine for a crash that was none leaves it`() async throws {
        let q = try await fixture()
        try await q.xadd([
            "id": "a", "asset": "a", "edit": QueueFixture.recipe, "priority": "bulk",
        ])
        _ = try await q.queue.admit()
        var holds: [Hold] = []
        for _ in 1...2 {
            holds.append(try await hold(q).hold)
            _ = try await q.queue.reap(by: "other")
        }
        #expect(try await q.queue.record(of: "a")?.priority == "alone")
        // The first one's worker may be back before the second's, or after.
        #expect(try await q.queue.pardon([holds[0]]) == .init(pardoned: 1))
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(record.priority == "bulk" && record.crashes == 1)
        try await q.expectHealthy()
    }

    @Test func `a job in quarantine without a sequence stays there until a claim buries it`()
        async throws
    {
        let q = try await fixture()
        try await q.admit("a")
        var holds: [Hold] = []
        for _ in 1...2 {
            holds.append(try await hold(q).hold)
            _ = try await q.queue.reap(by: "other")
        }
        try await q.harm(["HDEL job:a sequence"])
        await #expect(throws: QueueError.self) { try await q.queue.pardon([holds[0]]) }
        #expect(try await q.queue.claim(by: "w", count: 1).jobs.isEmpty)
        #expect(try await q.state(of: "a") == "dead")
    }

    @Test func `quarantine for want of memory stays when a crash is taken back`() async throws {
        let q = try await fixture()
        try await q.admit("a")
        _ = try await q.queue.fail(q.claim(), by: "w", Failure(.outOfMemory, "no"), random: 0)
        let claim = try await hold(q)
        _ = try await q.queue.reap(by: "other")
        #expect(try await q.queue.pardon([claim.hold]) == .init(pardoned: 1))
        #expect(try await q.queue.record(of: "a")?.priority == "alone")
    }

    @Test func `a hold that nobody has taken back yet is released at its place`() async throws {
        let q = try await fixture()
        try await q.admit("a", "b")
        let claim = try await hold(q)
        #expect(try await q.queue.pardon([claim.hold]) == .init(released: 1))
        #expect(try await q.queue.pardon([claim.hold]) == .init())
        try await q.expectHealthy()
        #expect(try await q.claim().job == "a")
    }

    @Test func `a job that is released while it is published is carried on and no carry counts`()
        async throws
    {
        let q = try await fixture { $0.carriesMax = 1 }
        try await q.admit("a")
        let claim = try await q.claim()
        _ = try await q.queue.commit(claim, q.event(claim, version: "1-1"), isDraft: false)
        var hold = claim.hold
        for _ in 1...10 {
            #expect(try await q.queue.pardon([hold]) == .init(released: 1))
            let carried = try #require(try await q.queue.reap(by: "heir").carried.first)
            #expect(carried.carries == 1)
            hold = Hold(job: "a", fence: carried.fence)
        }
        #expect(try await q.queue.finalize(job: "a", fence: hold.fence) == .held)
        #expect(try await q.queue.status().counters["crashed"] == nil)
        try await q.expectHealthy()
    }

    @Test func `nobody is pardoned for the hold of another`() async throws {
        let q = try await fixture()
        try await q.admit("a")
        _ = try await hold(q)
        _ = try await q.queue.reap(by: "other")
        let strangers = [Hold(job: "a", fence: "7"), Hold(job: "nobody", fence: "7")]
        #expect(try await q.queue.pardon(strangers) == .init())
        #expect(try await q.queue.record(of: "a")?.crashes == 1)
    }

    @Test func `the last crash waits until the worker was silent for long, since it may be back`()
        async throws
    {
        let q = try await fixture()
        // The lease is over and the worker is heard of, as when it was cut off for a short time.
        let patient = JobQueue(
            name: q.queue.name, redis: q.redis,
            settings: {
                var settings = QueueSettings()
                settings.lease = .seconds(3600)
                settings.crashesMax = 1
                return settings
            }())
        try await q.admit("a")
        let claim = try await hold(q)
        let reaped = try await patient.reap(by: "other")
        #expect(reaped.ready == 0 && reaped.dead == 0)
        #expect(try await q.state(of: "a") == "active")
        // It is back: the job waits for a worker again.
        #expect(try await q.queue.pardon([claim.hold]) == .init(released: 1))
        let again = try await hold(q)
        // It is not back for long.
        try await q.harm(["ZADD workers 1 a", "ZADD lease 1 a"])
        #expect(try await patient.reap(by: "other").dead == 1)
        #expect(try await q.queue.pardon([again.hold]) == .init())
        #expect(try await q.state(of: "a") == "dead")
        try await q.expectHealthy()
    }
}
