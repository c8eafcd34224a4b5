import Edits
import Redis
import Testing

@testable import JobQueue

/// Everything that is kept like a job, in each state that ordinary work brings it into: each reader knows it.
@Suite("Kinds of records") struct RecordKindsTests {
    /// Brings a queue to a moment at which it has every kind of record in every state, but stuck jobs.
    private func world(_ q: QueueFixture) async throws {
        let far = "2100-01-01T00:00:00Z"
        func add(_ id: String, _ more: KeyValuePairs<String, String> = [:]) async throws {
            var words: [RedisArgument] = [
                "XADD", RedisArgument(q.queue.name.keys.ingress), "*", "id", .init(id), "asset",
                .init("asset-of-\(id)"), "edit", .init(QueueFixture.recipe),
            ]
            for (name, value) in more { words += [.init(name), .init(value)] }
            _ = try await q.redis.send(words)
        }
        func take(_ id: String, _ more: KeyValuePairs<String, String> = [:]) async throws -> Claim {
            try await add(id, more)
            _ = try await q.queue.admit()
            let claim = try await q.claim()
            #expect(claim.job == id)
            return claim
        }
        // Ends of each kind; one with an edit that is not kept.
        try await q.finish(try await take("completed"))
        let drafted = try await take("drafted")
        _ = try await q.queue.commit(drafted, q.event(drafted), isDraft: true)
        _ = try await q.queue.finalize(job: "drafted", fence: drafted.fence)
        let unchanged = try await take("unchanged")
        _ = try await q.queue.conclude(
            unchanged,
            JobEvent.NoChange(mode: .replace, version: nil, reason: "done"))
        let large = QueueFixture.recipe + String(repeating: " ", count: 5000)
        for id in ["large-done", "large-dead"] {
            try await q.xadd(["id": .init(id), "asset": .init(id), "edit": .init(large)])
            _ = try await q.queue.admit()
            let claim = try await q.claim()
            if id == "large-done" { try await q.finish(claim) } else { try await q.bury(claim) }
        }
        try await q.bury(try await take("dead"))
        try await add("cancelled")
        _ = try await q.queue.admit()
        _ = try await q.queue.cancel(["cancelled"], reason: "no")
        try await q.xadd(["id": "malformed", "asset": "x"])
        _ = try await q.queue.admit()
        // Jobs that are held.
        _ = try await take("active")
        let committing = try await take("committing")
        _ = try await q.queue.commit(committing, q.event(committing), isDraft: false)
        let handedOn = try await take("handed-on")
        _ = try await q.queue.commit(handedOn, q.event(handedOn), isDraft: false)
        _ = try await q.queue.handOn(
            job: "handed-on", fence: handedOn.fence, by: "w", Failure(.ioFailure, "disk"),
            carries: 0, random: 1)
        // Jobs that wait.
        let retried = try await take("retried")
        _ = try await q.queue.fail(retried, by: "w", Failure(.ioFailure, "disk"), random: 1)
        let alone = try await take("alone")
        _ = try await q.queue.fail(alone, by: "w", Failure(.outOfMemory, "more"), random: 1)
        try await add("later", ["notBefore": .init(far)])
        try await add("paused", ["tenant": "paused"])
        try await q.queue.set([.cap(try JobID("paused"), 0)])
        _ = try await q.queue.admit()
        try await q.xadd([
            "id": "parked", "asset": "asset-of-active", "edit": QueueFixture.recipe,
        ])
        try await add("first-release")
        _ = try await q.queue.admit()
        try await q.harm(["HDEL job:first-release format"])
        // Batches: open, full, with members of each end, cancelled while a member runs, complete.
        try await q.open("open", members: 6, cap: 2)
        try await q.open("cancelled-batch", members: 3, cap: 1)
        try await q.open("complete", members: 1, sealed: 1)
        try await q.open("waiting", members: 1, sealed: 5)
        _ = try await q.queue.admit()
        _ = try await q.queue.cancel(["open:4"], reason: "no")
        for claim in try await q.queue.claim(by: "w", count: 20).jobs {
            switch claim.job {
            case "open:0": try await q.bury(claim)
            case "open:1", "complete:0": try await q.finish(claim)
            default: break
            }
        }
        _ = try await q.queue.cancel(BatchID("cancelled-batch"), reason: "no")
        try await q.addToBatchStream(of: "unopened", ["asset": "a"])
        // A movie with parts in each state. What else is ready waits, as its tenant is paused.
        try await q.queue.set([.cap(try JobID("default"), 0)])
        let movie = try await take("movie", ["cost": "90000", "tenant": "film"])
        _ = try await q.queue.split(movie, task: "task", into: [1, 2, 3, 4])
        _ = try await q.claim(by: "b")
        let delayedPart = try await q.claim(by: "b")
        _ = try await q.queue.fail(
            delayedPart, by: "b", Failure(.ioFailure, "disk"), random: 1)
        let endedPart = try await q.claim(by: "b")
        _ = try await q.queue.concludePart(endedPart)
        // Entries that are no jobs yet.
        _ = try await q.queue.submit(
            SubmitTests.request("submitted", asset: "s"), backlogMax: nil)
        _ = try await q.queue.submit(
            SubmitTests.request("withdrawn", asset: "t"), backlogMax: nil)
        _ = try await q.queue.cancel(["withdrawn"], reason: "no")
        try await add("sent")
    }

    private func ids(_ q: QueueFixture) async throws -> [String] {
        let prefix = q.queue.name.keys.prefix + "job:"
        let reply = try await q.redis.send(["KEYS", RedisArgument(prefix + "*")])
        return (reply.array ?? []).compactMap(\.string).map { String($0.dropFirst(prefix.count)) }
            .sorted()
    }

    @Test func `a queue with ordinary work of every kind is healthy, and each reader knows it`()
        async throws
    {
        var settings = QueueSettings()
        (settings.retry.base, settings.retry.cap) = (.seconds(86400), .seconds(86400))
        let q = try await QueueFixture(settings: settings)
        try await world(q)
        let open = try await q.queue.diagnose().open
        #expect(open == [], "\(open.map(\.sentence))")
        let mended = try await q.queue.diagnose(repair: true).mended
        #expect(mended == [], "\(mended.map(\.sentence))")

        let ids = try await ids(q)
        #expect(ids.contains("movie+1") && ids.contains("movie+4"))
        var states: Set<String> = []
        for id in ids {
            let record = try #require(try await q.queue.record(of: id))
            #expect(record.state != .unknown)
            states.insert(record.state.rawValue)
            let facts = try await q.queue.facts(of: id)
            #expect(facts.state == record.state, "\(id)")
            #expect(!["unknown", "lost"].contains(facts.reason.code), "\(id)")
            _ = try await q.queue.attempts(of: id)
            if record.state == .done {
                #expect(try await q.queue.outcome(of: id) != nil, "\(id)")
            }
        }
        #expect(
            states == ["ready", "delayed", "parked", "active", "committing", "done", "dead"])
        let status = try await q.queue.status()
        #expect(!status.held.contains { $0.job.contains("+") })
        #expect(status.held.contains { $0.job == "movie" })
        #expect(try await q.queue.spilled(ids).map(\.job).allSatisfy { !$0.contains("+") })
        _ = try await q.queue.scaleAdvice(ScaleTarget())
        // A part is no job to those who cancel and replay.
        #expect(
            try await q.queue.cancel(["movie+1", "movie+4"], reason: "no") == [.unknown, .unknown])
        #expect(try await q.queue.replay(["movie+4"]) == [.notDead])
        let all = try await q.queue.cancelJobs(of: JobID("default"), reason: "no")
        #expect(all.cancelled > 5)
        #expect(try await q.queue.diagnose().open == [])
    }

    @Test func `parts whose job is gone are named and removed`() async throws {
        let q = try await QueueFixture()
        let movie = try await {
            try await q.admit("movie")
            return try await q.claim()
        }()
        _ = try await q.queue.split(movie, task: "task", into: [1])
        try await q.harm(["HDEL parts:movie task"])
        #expect(try await q.queue.diagnose().open.map(\.kind) == [.recordIncomplete])
        #expect(try await q.queue.diagnose(repair: true).open == [])
        try await q.harm(["HSET parts:ghost task x"])
        #expect(try await q.queue.diagnose(repair: true).mended.map(\.kind) == [.partWithoutRecord])
    }
}
