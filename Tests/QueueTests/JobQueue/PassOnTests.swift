import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Jobs that a machine cannot do") struct PassOnTests {
    private static let gap = Failure(.formatUnavailable, "this machine has no encoder.")

    /// A queue with workers that were just heard of.
    private func queue(_ workers: String...) async throws -> QueueFixture {
        let q = try await QueueFixture()
        for worker in workers { try await q.hear(worker) }
        return q
    }

    private func passOn(
        _ q: QueueFixture, _ claim: Claim, by worker: String
    ) async throws -> Bool {
        let answer = try await q.queue.passOn(
            claim, by: worker, Self.gap, Attempt.Trace(stage: "waiting"))
        #expect(answer.state == .held)
        return answer.isDead
    }

    @Test func `are left to the workers that can, and no attempt is counted`() async throws {
        let q = try await queue("a", "b")
        try await q.admit("avif", "jpeg")
        let claim = try await q.claim(by: "a")
        #expect(claim.job == "avif")
        #expect(try await !passOn(q, claim, by: "a"))
        let record = try #require(try await q.queue.record(of: "avif"))
        #expect(record.state == .ready && record.attempts == 0)
        #expect(try await q.queue.attempts(of: "avif").map(\.code) == [.formatUnavailable])
        // It keeps its position, and the worker that cannot do it gets the next one.
        #expect(try await q.queue.claim(by: "a", count: 5).jobs.map(\.job) == ["jpeg"])
        #expect(try await q.queue.claim(by: "b", count: 5).jobs.map(\.job) == ["avif"])
    }

    @Test func `are explained by the workers that cannot do them`() async throws {
        let q = try await queue("a", "b")
        try await q.admit("avif")
        #expect(try await !passOn(q, q.claim(by: "a"), by: "a"))
        let reason = try await q.queue.facts(of: "avif").reason
        #expect(reason == .ableWorker(unable: 1, ahead: 0, about: nil))
    }

    @Test func `wait for no slot of workers that claim nothing`() async throws {
        let q = try await queue("a", "b")
        try await q.admit("j")
        for worker in ["a", "b"] {
            let info = WorkerInfo(
                name: worker, slots: 2, version: "1", startedAt: "2026-01-01T00:00:00Z")
            _ = try await q.queue.beat(
                [],
                by: info.with(busy: 0, memory: nil, pressure: nil, trouble: "the disk is away."))
            let reason = try await q.queue.facts(of: "j").reason
            #expect(reason.code == (worker == "a" ? "freeSlot" : "workersInTrouble"))
        }
    }

    @Test func `are not claimed in a circle, however many there are`() async throws {
        let q = try await queue("a", "b")
        for number in 0..<(q.queue.settings.passedMax + 5) { try await q.admit("j\(number)") }
        while let claim = try await q.queue.claim(by: "a", count: 1).jobs.first {
            #expect(try await !passOn(q, claim, by: "a"))
        }
        let claims = try await q.queue.claim(by: "a", count: 1)
        #expect(claims.jobs.isEmpty && !claims.hasMore && !claims.hasLater)
        #expect(try await q.queue.diagnose().isHealthy)
        #expect(try await q.queue.claim(by: "b", count: 3).jobs.count == 3)
    }

    @Test func `end for good when no living worker is left`() async throws {
        let q = try await queue("a", "b", "c")
        try await q.admit("avif")
        for worker in ["a", "b"] {
            #expect(try await !passOn(q, try await q.claim(by: worker), by: worker))
        }
        #expect(try await passOn(q, try await q.claim(by: "c"), by: "c"))
        let record = try #require(try await q.queue.record(of: "avif"))
        #expect(record.state == .dead && record.code == .formatUnavailable)
        #expect(record.message?.contains("No worker that is alive") == true)
        guard case .failed(let event)? = try await q.events().last?.data else {
            Issue.record("the last event is no failure")
            return
        }
        #expect(event.error.permanent)
        #expect(try await q.queue.diagnose().isHealthy)
    }

    @Test func `are tried again where only workers are left that could not do them`()
        async throws
    {
        let q = try await queue("a", "b")
        try await q.admit("avif")
        #expect(try await !passOn(q, try await q.claim(by: "a"), by: "a"))
        #expect(try await q.queue.claim(by: "a", count: 1).jobs.isEmpty)
        try await q.queue.leave("b")
        // Its packages may have been repaired since.
        #expect(try await passOn(q, try await q.claim(by: "a"), by: "a"))
        #expect(try await q.queue.replay(["avif"]) == [.replayed])
        #expect(try await q.claim(by: "a").generation == 2)
    }

    @Test func `are left to workers that an outage has kept from their heartbeats`() async throws {
        let q = try await queue("a", "b")
        try await q.admit("avif")
        let claim = try await q.claim(by: "a")
        // Redis was away for two leases, or its clock has leapt, and this worker is the first that is back.
        let before = try await q.queue.now() - 2 * q.queue.settings.lease.milliseconds
        try await q.harm(["ZADD workers \(before) a", "ZADD workers \(before) b"])
        try await q.hear("a")
        #expect(try await !passOn(q, claim, by: "a"))
        #expect(try await q.queue.claim(by: "a", count: 1).jobs.isEmpty)
        #expect(try await q.claim(by: "b").job == "avif")
    }

    @Test func `are tried by all workers again after a replay`() async throws {
        let q = try await queue("a")
        try await q.admit("avif")
        try await q.hear("b")
        #expect(try await !passOn(q, try await q.claim(by: "a"), by: "a"))
        #expect(try await passOn(q, try await q.claim(by: "b"), by: "b"))
        #expect(try await q.queue.replay(["avif"]) == [.replayed])
        #expect(try await q.field("unable", of: "job:avif") == nil)
    }

    @Test func `are cancelled like others, and an old hold changes nothing`() async throws {
        let q = try await queue("a", "b")
        try await q.admit("avif")
        let claim = try await q.claim(by: "a")
        #expect(try await !passOn(q, claim, by: "a"))
        let again = try await q.queue.passOn(claim, by: "a", Self.gap, Attempt.Trace())
        #expect(again.state == .fenced)
        let held = try await q.claim(by: "b")
        _ = try await q.queue.cancel(["avif"], reason: "wrong")
        #expect(try await !passOn(q, held, by: "b"))
        #expect(try await q.queue.record(of: "avif")?.outcome == "cancelled")
    }
}
