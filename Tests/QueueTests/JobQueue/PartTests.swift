import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Parts of a job") struct PartTests {
    private func conclude(_ q: QueueFixture, _ claim: Claim) async throws -> Hold.Reply {
        try await q.queue.conclude(
            claim, JobEvent.NoChange(mode: .replace, version: nil, reason: "done"))
    }

    /// A job that is split, as its worker has it.
    private func split(
        _ q: QueueFixture, into numbers: [Int] = [1, 2, 3]
    ) async throws -> Claim {
        try await q.admit("a")
        let claim = try await q.claim()
        #expect(try await q.queue.split(claim, task: "task", into: numbers) == .held)
        return claim
    }

    private func keys(_ q: QueueFixture) async throws -> [String] {
        let prefix = q.queue.name.keys.prefix
        let reply = try await q.redis.send(["KEYS", RedisArgument(prefix + "*")])
        return (reply.array ?? []).compactMap(\.string).map { String($0.dropFirst(prefix.count)) }
            .sorted()
    }

    @Test func `other workers get the parts with the task, in order, before what came later`()
        async throws
    {
        let q = try await QueueFixture()
        let job = try await split(q)
        try await q.admit("later")
        let parts = try await q.queue.claim(by: "b", count: 4).jobs
        #expect(parts.map(\.job) == ["a+1", "a+2", "a+3", "later"])
        #expect(parts.map(\.part) == [1, 2, 3, nil])
        #expect(parts.map(\.parent) == ["a", "a", "a", nil])
        #expect(parts.prefix(3).allSatisfy { $0.edit == "task" && $0.tenant == job.tenant })
    }

    @Test func `a part of a cancelled job is cancelled for its worker, and not lost`() async throws
    {
        let q = try await QueueFixture()
        let job = try await split(q)
        let part = try #require(try await q.queue.claim(by: "b", count: 1).jobs.first)
        _ = try await q.queue.cancel(["a"], reason: "wrong")
        #expect(try await q.queue.concludeCancelled(job) == .held)
        let beats = [Beat(hold: part.hold), Beat(hold: job.hold)]
        #expect(
            try await q.queue.beat(beats, by: QueueFixture.worker).replies == [.cancelled, .held])
        #expect(try await q.queue.concludeCancelled(part) == .fenced)
    }

    @Test func `nothing is told of parts, and nothing stays of them`() async throws {
        let (q, plain) = (try await QueueFixture(), try await QueueFixture())
        try await plain.admit("a")
        try await plain.finish(plain.claim())
        let job = try await split(q)
        let parts = try await q.queue.claim(by: "b", count: 3).jobs
        #expect(try await conclude(q, parts[0]) == .held)
        _ = try await q.queue.fail(
            parts[1], by: "b", Failure(.damagedVideo, "bad"), random: 1)
        #expect(
            try await q.queue.release(job: parts[2].job, fence: parts[2].fence, .shutdown) == .held)
        try await q.finish(job)
        #expect(try await q.events().map(\.name) == ["completed"])
        // Calls and wake-ups, which are bounded.
        let passing: Set = ["control", "wake"]
        #expect(
            Set(try await keys(q)).subtracting(passing)
                == Set(try await keys(plain)).subtracting(passing))
        #expect(try await q.queue.status().counters["unchanged"] == nil)
        #expect(try await q.queue.diagnose(repair: false).isHealthy)
    }

    /// The number of jobs of a tenant that are held, and the number that its cap is compared with.
    private func held(_ q: QueueFixture) async throws -> [Int] {
        [
            try await q.queue.status()[.active],
            try await q.field("default", of: "running").flatMap { Int($0) } ?? 0,
        ]
    }

    @Test(arguments: ["done", "failed", "cancelled", "dead with its worker", "taken back"])
    func `whatever ends a part, its tenant runs as many jobs as there are leases`(
        _ end: String
    ) async throws {
        var settings = QueueFixture.expiredAtOnce
        (settings.crashesMax, settings.silentLeasesToDeath) = (1, 0)
        settings.voidsMax = 0
        let q = try await QueueFixture(settings: settings)
        let job = try await split(q)
        let parts = try await q.queue.claim(by: "b", count: 2).jobs
        #expect(try await held(q) == [3, 3])
        switch end {
        case "done":
            #expect(try await conclude(q, parts[0]) == .held)
        case "failed":
            _ = try await q.queue.fail(
                parts[0], by: "b", Failure(.damagedVideo, "bad"), random: 1)
        case "cancelled":
            _ = try await q.queue.cancel([parts[0].job], reason: "no")
            #expect(try await q.queue.concludeCancelled(parts[0]) == .held)
        case "dead with its worker":
            try await q.harm(["ZADD lease 9000000000000 a", "HSET job:a lease 9000000000000"])
            try await q.harm(["ZADD lease 9000000000000 a+2", "HSET job:a+2 lease 9000000000000"])
            #expect(try await q.queue.reap(by: "c").dead == 1)
        default:
            #expect(
                try await q.queue.release(job: parts[0].job, fence: parts[0].fence, .shutdown)
                    == .held)
            #expect(try await q.queue.claimPart(job, 1).state == .ours)
        }
        #expect(try await held(q) == [2, 2])
    }

    @Test func `the job takes back a part that nobody does, and leaves one that somebody does`()
        async throws
    {
        let q = try await QueueFixture()
        let job = try await split(q)
        let other = try await q.claim(by: "b")
        #expect(try await q.queue.claimPart(job, 1).state == .busy)
        #expect(try await q.queue.claimPart(job, 2).state == .ours)
        #expect(try await conclude(q, other) == .held)
        let claimed = try await q.queue.claimPart(job, 1)
        #expect(claimed.state == .ours && claimed.ended == [1])
        #expect(try await q.queue.claim(by: "b", count: 8).jobs.map(\.job) == ["a+3"])
    }

    @Test func `a part whose worker died is done by another one`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        let job = try await split(q, into: [1])
        let part = try await q.claim(by: "dying")
        try await q.confirm(part)
        // Both leases are over; the job's own worker says that it lives.
        #expect(try await q.queue.reap(by: "b").ready == 2)
        let again = try await q.queue.claim(by: "b", count: 8).jobs
        #expect(again.map(\.job) == ["a", "a+1"])
        #expect(try await q.queue.claimPart(job, 1).state == .fenced)
        #expect(try await conclude(q, part) == .fenced)
        #expect(try await conclude(q, again[1]) == .held)
    }

    @Test
    func `the next worker of a job finds the parts that there are, and makes none that ended`()
        async throws
    {
        let q = try await QueueFixture()
        let job = try await split(q)
        let first = try await q.claim(by: "b")
        #expect(try await conclude(q, first) == .held)
        _ = try await q.queue.release(job: "a", fence: job.fence, .shutdown)
        let heir = try #require(
            try await q.queue.claim(by: "c", count: 8).jobs.first { $0.parent == nil })
        #expect(try await q.queue.split(heir, task: "task", into: [1, 2, 3]) == .held)
        #expect(try await q.state(of: "a+1") == nil)
        #expect(try await q.state(of: "a+2") == "active")
        #expect(try await q.state(of: "a+3") == "active")
    }

    @Test func `parts of another task end`() async throws {
        let q = try await QueueFixture()
        let job = try await split(q)
        let old = try await q.claim(by: "b")
        #expect(try await q.queue.split(job, task: "another", into: [1, 2]) == .held)
        #expect(
            try await q.queue.beat([Beat(hold: old.hold)], by: QueueFixture.worker).replies
                == [.fenced])
        let new = try await q.queue.claim(by: "b", count: 8).jobs
        #expect(new.map(\.job) == ["a+1", "a+2"] && new.allSatisfy { $0.edit == "another" })
    }

    @Test(arguments: ["cancelled", "dead", "done"])
    func `when a job ends its parts end, and who does one hears of it`(_ end: String) async throws {
        let q = try await QueueFixture()
        let job = try await split(q)
        let part = try await q.claim(by: "b")
        var position = try await q.queue.controlPosition(in: .jobs)
        switch end {
        case "dead":
            _ = try await q.queue.fail(job, by: "a", Failure(.damagedVideo, "bad"), random: 1)
        case "done": try await q.finish(job)
        default:
            #expect(try await q.queue.cancel(["a"], reason: "no") == [.notified])
            #expect(try await q.queue.concludeCancelled(job) == .held)
        }
        let reported = try await q.queue.listen(
            to: .jobs, from: &position, atMost: .zero, on: q.redis)
        #expect(reported.contains(.job("a+1")))
        #expect(
            try await q.queue.beat([Beat(hold: part.hold)], by: QueueFixture.worker).replies
                == [.cancelled]
        )
        #expect(try await q.queue.claim(by: "b", count: 8).jobs.isEmpty)
        #expect(try await keys(q).filter { $0.contains("+") || $0.hasPrefix("parts") }.isEmpty)
        #expect(try await q.queue.status()[.active] == 0)
        #expect(try await q.queue.diagnose(repair: false).isHealthy)
    }

    @Test func `a job in quarantine, and a part, have no parts`() async throws {
        let q = try await QueueFixture()
        let job = try await split(q, into: [1])
        let part = try await q.claim(by: "b")
        #expect(try await q.queue.split(part, task: "task", into: [1]) == .fenced)
        try await q.harm(["HSET job:a priority alone"])
        #expect(try await q.queue.split(job, task: "other", into: [1, 2]) == .held)
        #expect(try await q.queue.claim(by: "b", count: 8).jobs.isEmpty)
    }

    @Test func `a part whose job Redis has lost is dropped when its turn comes`() async throws {
        let q = try await QueueFixture()
        _ = try await split(q)
        try await q.harm(["DEL job:a"])
        #expect(try await q.queue.claim(by: "b", count: 8).jobs.isEmpty)
        #expect(try await keys(q).filter { $0.contains("+") }.isEmpty)
    }

    @Test func `an asset that is named like a part is not freed with the part`() async throws {
        let q = try await QueueFixture()
        let job = try await split(q, into: [1])
        for id in ["x", "y"] {
            try await q.xadd(["id": id, "asset": "a+1", "edit": QueueFixture.recipe])
        }
        _ = try await q.queue.admit()
        let held = try await q.queue.claim(by: "b", count: 8).jobs
        #expect(held.map(\.job) == ["a+1", "x"], "y waits for the asset of x")
        #expect(try await conclude(q, job) == .held)
        #expect(try await q.queue.claim(by: "b", count: 8).jobs.isEmpty)
        #expect(try await q.state(of: "y") == "parked")
    }

    @Test
    func
        `a part of an earlier release, which has its name alone as its asset, frees what it holds`()
        async throws
    {
        let q = try await QueueFixture()
        let job = try await split(q, into: [1])
        try await q.harm(["DEL assets", "HSET assets a a a+1 a+1", "HSET job:a+1 asset a+1"])
        #expect(try await conclude(q, job) == .held)
        let key = RedisArgument(q.queue.name.keys.prefix + "assets")
        #expect(try await q.redis.send(["HLEN", key]).int == 0)
    }

    @Test func `no producer can make a part, or take its name`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["id": "a+1", "asset": "a", "edit": QueueFixture.recipe])
        try await q.xadd(["id": "b", "asset": "b", "edit": QueueFixture.recipe, "parent": "a"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.claim(by: "w", count: 8).jobs.isEmpty)
        #expect(try await q.queue.status()[.dead] == 2)
    }
}
