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
        _ q: QueueFixture, _ claim: Claim, by worker: String, _ failure: Failure,
        _ need: MachineNeed
    ) async throws -> JobQueue.PassedOn {
        let answer = try await q.queue.passOn(
            claim, by: worker, failure, needing: need, Attempt.Trace(stage: "waiting"))
        #expect([.left(.held), .dead, .nobody].contains(answer))
        return answer
    }

    private func passOn(
        _ q: QueueFixture, _ claim: Claim, by worker: String
    ) async throws -> Bool {
        try await passOn(q, claim, by: worker, Self.gap, .otherMachine) == .dead
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
        let facts = try await q.queue.facts(of: "avif")
        // The slots of a worker that cannot do it make it no faster.
        #expect(facts.fields["slots"] == "4" && facts.fields["ableSlots"] == "2")
        #expect(facts.fields["unableWorkers"] == nil)
        let reason = facts.reason
        #expect(reason == .ableWorker(unable: 1, able: 1, needs: nil, ahead: 0, about: nil))
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
        // The worker looks past them in steps, each behind the one before.
        var (claims, steps) = (try await q.queue.claim(by: "a", count: 1), 0)
        while claims.hasMore || !claims.jobs.isEmpty {
            for claim in claims.jobs { #expect(try await !passOn(q, claim, by: "a")) }
            (claims, steps) = (try await q.queue.claim(by: "a", count: 1), steps + 1)
            try #require(steps < 2 * q.queue.settings.passedMax)
        }
        #expect(claims.jobs.isEmpty && !claims.hasLater)
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
        // In an update, another one takes its place.
        #expect(
            try await q.queue.facts(of: "avif").reason
                == .ableWorker(unable: 1, able: 0, needs: nil, ahead: 0, about: nil))
        #expect(try await q.queue.claim(by: "a", count: 1).jobs.isEmpty)
        let longAgo = try await q.queue.now() - 301_000
        try await q.setField("b", of: "workers:left", "\(longAgo) {}")
        // Its packages may have been repaired since.
        #expect(try await passOn(q, try await q.claim(by: "a"), by: "a"))
        #expect(try await q.queue.replay(["avif"]) == [.replayed])
        #expect(try await q.claim(by: "a").generation == 2)
    }

    @Test func `wait for no worker that stopped and did not have what they need`() async throws {
        let q = try await queue("a", "b")
        try await q.admit("avif")
        let claim = try await q.claim(by: "a")
        try await q.queue.leave("b")
        // Both are of one release.
        #expect(try await passOn(q, claim, by: "a", Self.gap, .otherRelease(than: "1")) == .dead)
    }

    @Test func `wait for a worker that stopped if they came before, or soon after`()
        async throws
    {
        let q = try await queue("a", "b")
        try await q.admit("before")
        try await q.queue.leave("b")
        try await q.admit("meanwhile")
        for job in ["before", "meanwhile"] {
            let claim = try await q.claim(by: "a")
            #expect(claim.job == job)
            #expect(try await !passOn(q, claim, by: "a"))
        }
        // Both would have come more than a minute after it stopped, if it had stopped earlier.
        let left = RedisArgument(q.queue.name.keys.prefix + "workers:left")
        let stopped = try #require(try await q.redis.send(["HGET", left, "b"]).string)
        let words = stopped.split(separator: " ", maxSplits: 1)
        let earlier = "\(try #require(Int(words[0])) - 61_000) \(words[1])"
        _ = try await q.redis.send(["HSET", left, "b", RedisArgument(earlier)])
        let late = try await q.claim(by: "a")
        #expect(late.job == "before")
        #expect(try await passOn(q, late, by: "a"))
        _ = try await q.redis.send(["HSET", left, "b", RedisArgument(stopped)])
        #expect(try await q.queue.claim(by: "a", count: 1).jobs.isEmpty)
        // Where nobody can come, none waits.
        try await q.queue.forgetStoppedWorkers()
        #expect(try await q.claim(by: "a").job == "meanwhile")
    }

    @Test func `are tried again by a worker that was restarted under its name`() async throws {
        let q = try await queue("a", "b")
        try await q.admit("avif")
        #expect(try await !passOn(q, try await q.claim(by: "a"), by: "a"))
        #expect(try await q.queue.claim(by: "a", count: 1).jobs.isEmpty)
        for day in ["02", "03"] {
            try await q.hear("a", since: "2026-01-\(day)T00:00:00Z")
            #expect(try await !passOn(q, try await q.claim(by: "a"), by: "a"))
            // It counts as one of those that tried it, however often it starts.
            #expect(
                try await q.field("unable", of: "job:avif") == "\na\t2026-01-\(day)T00:00:00Z\n")
            #expect(try await q.queue.claim(by: "a", count: 1).jobs.isEmpty)
        }
        // Where it has now what it lacked, the other one does not end the job.
        try await q.hear("a", since: "2026-01-04T00:00:00Z")
        #expect(try await !passOn(q, try await q.claim(by: "b"), by: "b"))
        #expect(try await q.claim(by: "a").job == "avif")
    }

    @Test func `keep no other tenant from a worker that leaves them, however many they are`()
        async throws
    {
        let q = try await queue("a", "b")
        let many = q.queue.settings.passedMax + 50
        for number in 0..<many {
            let job = "j\(number)"
            try await q.xadd([
                "id": .init(job), "asset": .init(job), "edit": .init(QueueFixture.recipe),
            ])
        }
        while try await q.queue.admit().admitted > 0 {}
        for number in 0..<many {
            try await q.setField(
                "unable", of: "job:j\(number)", "\na\t\(QueueFixture.worker.startedAt)\n")
        }
        for tenant in ["late", "new", "default"] {
            try await q.xadd([
                "id": .init(tenant), "asset": .init(tenant), "edit": .init(QueueFixture.recipe),
                "tenant": .init(tenant),
            ])
        }
        _ = try await q.queue.admit()
        let first = try await q.queue.claim(by: "a", count: 4)
        #expect(Set(first.jobs.map(\.job)).isSuperset(of: ["late", "new"]))
        // That of the same tenant stands behind them all, and the worker goes on where it was.
        var claimed = first.jobs.map(\.job)
        var claims = first
        while claims.hasMore {
            claims = try await q.queue.claim(by: "a", count: 4)
            claimed += claims.jobs.map(\.job)
        }
        #expect(claimed.sorted() == ["default", "late", "new"])
        try await q.xadd(["id": "more", "asset": "more", "edit": .init(QueueFixture.recipe)])
        _ = try await q.queue.admit()
        #expect(try await q.queue.claim(by: "a", count: 4).jobs.map(\.job) == ["more"])
        #expect(try await q.queue.diagnose().isHealthy)
        // Nothing was lost of those that were left, and they keep their order.
        #expect(try await q.queue.claim(by: "b", count: 3).jobs.map(\.job) == ["j0", "j1", "j2"])
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
        let again = try await q.queue.passOn(
            claim, by: "a", Self.gap, needing: .otherMachine, Attempt.Trace())
        #expect(again == .left(.fenced))
        let held = try await q.claim(by: "b")
        _ = try await q.queue.cancel(["avif"], reason: "wrong")
        #expect(try await !passOn(q, held, by: "b"))
        #expect(try await q.queue.record(of: "avif")?.outcome == "cancelled")
    }

    // MARK: What a worker must have

    /// A heartbeat of a worker with a budget of memory and a release.
    private func hear(
        _ worker: String, _ q: QueueFixture, memory: Int? = nil, version: String = "minilab/2"
    ) async throws {
        let info = WorkerInfo(
            name: worker, slots: 2, version: version, startedAt: "2026-01-01T00:00:00Z",
            memory: memory.map {
                WorkerMemory(budgetBytes: $0, grantedBytes: 0, waiting: 0)
            })
        _ = try await q.queue.beat([], by: info)
    }

    private static let large = Failure(.exceedsMemoryBudget, "it needs 158 MB.", neededBytes: 158)

    @Test func `need memory: the workers that have too little leave them untried`() async throws {
        let q = try await QueueFixture()
        for (worker, memory) in [("small", 115), ("tiny", 64), ("good", 2000)] {
            try await hear(worker, q, memory: memory)
        }
        try await q.admit("large")
        let need = try #require(Self.large.need(at: "minilab/2"))
        #expect(need == .memory(bytes: 158))
        let claim = try await q.claim(by: "small")
        #expect(try await passOn(q, claim, by: "small", Self.large, need) == .left(.held))
        #expect(try await q.field("needs", of: "job:large") == "memory 158")
        #expect(try await q.queue.claim(by: "tiny", count: 1).jobs.isEmpty)
        let reason = try await q.queue.facts(of: "large").reason
        #expect(
            reason == .ableWorker(unable: 1, able: 1, needs: "memory 158", ahead: 0, about: nil))
        #expect(try await q.claim(by: "good").job == "large")
        #expect(try await q.queue.record(of: "large")?.attempts == 0)
    }

    @Test func `need memory that nobody has: they end at once, with the sentence of the failure`()
        async throws
    {
        let q = try await QueueFixture()
        for worker in ["small", "tiny"] { try await hear(worker, q, memory: 115) }
        try await q.admit("large")
        let claim = try await q.claim(by: "small")
        #expect(try await passOn(q, claim, by: "small", Self.large, .memory(bytes: 158)) == .dead)
        let record = try #require(try await q.queue.record(of: "large"))
        #expect(record.state == .dead && record.message == Self.large.message)
        #expect(try await q.queue.replay(["large"]) == [.replayed])
        #expect(try await q.field("needs", of: "job:large") == nil)
        try await q.expectHealthy()
    }

    @Test func `run out of a worker's whole memory: those with more are asked, and no others`()
        async throws
    {
        let failure = Failure(.outOfMemory, "the render child ran out of memory.")
        #expect(failure.need(at: "minilab/2") == nil)
        let need = try #require(failure.need(at: "minilab/2", ofAll: 115))
        #expect(need == .memory(bytes: 116))
        let q = try await QueueFixture()
        for (worker, memory) in [("small", 115), ("equal", 115), ("good", 2000)] {
            try await hear(worker, q, memory: memory)
        }
        try await q.admit("large")
        _ = try await q.queue.fail(
            try await q.claim(by: "small"), by: "small", failure, random: 0)
        let alone = try await q.claim(by: "small")
        #expect(alone.isQuarantined)
        #expect(try await passOn(q, alone, by: "small", failure, need) == .left(.held))
        #expect(try await q.queue.claim(by: "equal", count: 1).jobs.isEmpty)
        let last = try await q.claim(by: "good")
        #expect(last.isQuarantined)
        // Where nobody has more, it ends as after any failure.
        #expect(try await passOn(q, last, by: "good", failure, .memory(bytes: 2001)) == .nobody)
        _ = try await q.queue.fail(last, by: "good", failure, random: 0)
        #expect(try await q.queue.record(of: "large")?.state == .dead)
    }

    @Test func `need another release: those of the same one are not asked`() async throws {
        let q = try await QueueFixture()
        try await hear("old1", q, version: "minilab/1")
        try await hear("old2", q, version: "minilab/1")
        let newer = Failure(.unknownField, "edit.newer is unknown.")
        try await q.admit("a", "b")
        let first = try await q.claim(by: "old1")
        let need = try #require(newer.need(at: "minilab/1"))
        // A field that no release of the fleet knows is wrong, and told at once.
        #expect(try await passOn(q, first, by: "old1", newer, need) == .dead)
        #expect(try await q.queue.record(of: "a")?.message == newer.message)
        try await hear("new", q, version: "minilab/2")
        let second = try await q.claim(by: "old1")
        #expect(try await passOn(q, second, by: "old1", newer, need) == .left(.held))
        #expect(try await q.queue.claim(by: "old2", count: 1).jobs.isEmpty)
        #expect(try await q.claim(by: "new").job == "b")
    }

    @Test func `need other settings of editors: those that have the same are not asked`()
        async throws
    {
        let q = try await QueueFixture()
        func hear(_ worker: String, _ editors: [String: String] = [:]) async throws {
            let info = WorkerInfo(
                name: worker, slots: 2, version: "minilab/1", startedAt: "2026-01-01T00:00:00Z",
                machine: editors)
            _ = try await q.queue.beat([], by: info)
        }
        for worker in ["plain1", "plain2"] { try await hear(worker) }
        let unread = Failure(.cannotHandleAdjustmentData, "no editor here reads it.")
        let need = try #require(unread.need(at: "minilab/1"))
        try await q.admit("a", "b")
        // An edit that nobody reads is told at once in a fleet of equals.
        let first = try await q.claim(by: "plain1")
        #expect(try await passOn(q, first, by: "plain1", unread, need) == .dead)
        #expect(try await q.queue.record(of: "a")?.message == unread.message)
        try await hear("tinted", ["editors": "tint com.example.tint/1.0"])
        let second = try await q.claim(by: "plain1")
        #expect(try await passOn(q, second, by: "plain1", unread, need) == .left(.held))
        #expect(try await q.queue.claim(by: "plain2", count: 1).jobs.isEmpty)
        #expect(try await q.queue.facts(of: "b").fields["able"] == "1")
        #expect(try await q.claim(by: "tinted").job == "b")
    }

    @Test(arguments: [
        MachineNeed.memory(bytes: 158), .otherRelease(than: "minilab/1 of today"),
        .otherEditors(than: "minilab/1", editors: ""),
        .otherEditors(than: "minilab/1", editors: "lookalikes, tint a/1"),
    ])
    func `have a need that is read as it was written`(need: MachineNeed) {
        #expect(MachineNeed(need.text) == need)
    }

    @Test func `that may pass are retried as before where nobody else is able`() async throws {
        let q = try await queue("a")
        try await q.admit("j")
        let failure = Failure(.unconfined, "the kernel confines nothing.")
        let claim = try await q.claim(by: "a")
        #expect(try await passOn(q, claim, by: "a", failure, .otherMachine) == .nobody)
        #expect(try await q.queue.record(of: "j")?.state == .active)
        #expect(try await q.queue.attempts(of: "j").isEmpty)
        #expect(try await q.queue.fail(claim, by: "a", failure, random: 0) == .held)
        #expect(try await q.queue.record(of: "j")?.state == .delayed)
    }

    @Test func `are ended by no number of workers that tried them and stopped or died since`()
        async throws
    {
        let q = try await queue("able")
        try await q.admit("j")
        let failure = Failure(.missingResource, "there is no such file.")
        let silent = try await q.queue.now() - 3 * q.queue.settings.lease.milliseconds
        for number in 0..<(2 * MachineNeed.otherMachine.triesMax) {
            let pod = "pod\(number)"
            try await q.hear(pod)
            let claim = try await q.claim(by: pod)
            #expect(
                try await passOn(q, claim, by: pod, failure, .otherMachine) == .left(.held),
                "pod \(number)")
            switch number % 3 {
            case 0: try await q.queue.leave(pod)
            case 1: try await q.harm(["ZADD workers \(silent) \(pod)"])
            default: try await q.harm(["ZREM workers \(pod)", "HDEL workers:info \(pod)"])
            }
        }
        // The record names none that was forgotten, however many there were.
        let unable = try #require(try await q.field("unable", of: "job:j"))
        #expect(!unable.contains("pod2\t") && unable.contains("pod0\t"))
        #expect(try await q.claim(by: "able").job == "j")
        #expect(try await q.queue.record(of: "j")?.attempts == 0)
    }

    @Test func `wait for no worker that stopped and was started again under its name`()
        async throws
    {
        let q = try await queue("a")
        try await q.admit("avif")
        try await q.queue.leave("a")
        try await q.hear("a", since: "2026-01-02T00:00:00Z")
        #expect(try await passOn(q, try await q.claim(by: "a"), by: "a"))
    }

    @Test func `go round a part of a large fleet at most, where only trying tells`() async throws {
        let names = (0..<20).map { "w\($0)" }
        let q = try await QueueFixture()
        for name in names { try await q.hear(name) }
        try await q.admit("j")
        let failure = Failure(.missingResource, "there is no such file.")
        var tried = 0
        for name in names {
            guard let claim = try await q.queue.claim(by: name, count: 1).jobs.first else { break }
            tried += 1
            if try await passOn(q, claim, by: name, failure, .otherMachine) == .dead { break }
        }
        #expect(tried == MachineNeed.otherMachine.triesMax + 1)
        #expect(try await q.queue.record(of: "j")?.state == .dead)
    }
}
