import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("The end of a job") struct EndingTests {
    @Test func `commit and finalize end a job with one event`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        try await q.finish(claim)
        let events = try await q.events()
        #expect(events.map(\.name) == ["completed"])
        #expect(events[0].id == "\(q.queue.name)/a/1/completed")
        #expect(events[0].source == "minilab/\(q.queue.name)")
        guard case .completed(let data) = events[0].data else { Issue.record("no data"); return }
        #expect(data.more == q.event(claim))
        #expect(data.worker == claim.worker && data.attempt == 1 && data.asset == claim.asset)
        #expect(try await q.state(of: "a") == "done")
        #expect(try await q.queue.status().isDrained)
    }

    @Test func `each step may be repeated after a lost reply and the event stays one`() async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        for _ in 0..<3 {
            #expect(
                try await q.queue.commit(claim, q.event(claim, version: "1-1"), isDraft: false)
                    == .held)
        }
        for _ in 0..<3 {
            #expect(try await q.queue.finalize(job: "a", fence: claim.fence) == .held)
        }
        #expect(try await q.events().count == 1)
        #expect(try await q.queue.status().counters["completed"] == 1)
    }

    private let unchanged = JobEvent.NoChange(mode: .replace, version: nil, reason: "it is so")

    @Test func `a job that found nothing to do is done, with one event that says so`() async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        for _ in 0..<3 {
            #expect(try await q.queue.conclude(claim, unchanged) == .held)
        }
        #expect(try await q.state(of: "a") == "done")
        let events = try await q.events()
        #expect(events.map(\.id) == ["\(q.queue.name)/a/1/unchanged"])
        #expect(events.first?.sequence == nil)
        guard case .unchanged(let outcome)? = try await q.queue.outcome(of: "a") else {
            Issue.record("expected .unchanged")
            return
        }
        #expect(outcome.reason == "it is so")
        guard case .unchanged(_, let reason) = try await q.queue.facts(of: "a").reason else {
            Issue.record("expected .unchanged")
            return
        }
        #expect(reason == "it is so")
        #expect(try await q.queue.status().counters["unchanged"] == 1)
    }

    @Test func `a completed event carries the asset's revision as its sequence, a draft none`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        let a = try await q.claim()
        _ = try await q.queue.commit(a, q.event(a, version: "12-345"), isDraft: false)
        _ = try await q.queue.finalize(job: a.job, fence: a.fence)
        let b = try await q.claim()
        _ = try await q.queue.commit(b, q.event(b, version: "7-345"), isDraft: true)
        _ = try await q.queue.finalize(job: b.job, fence: b.fence)
        let events = try await q.events()
        #expect(events.map(\.name) == ["completed", "drafted"])
        #expect(events.map(\.sequence) == ["0000000012", nil])
    }

    /// Redis has lost that `a` is done, and `a` ends otherwise before it runs again.
    @Test(arguments: ["cancelled", "dead", "told later"])
    func `the next version names those since the last one that was told`(_ end: String)
        async throws
    {
        let q = try await QueueFixture()
        for id in ["told", "a", "next"] {
            try await q.xadd(["id": id, "asset": "photo", "edit": QueueFixture.recipe])
        }
        _ = try await q.queue.admit()
        let told = try await q.claim()
        _ = try await q.queue.commit(told, q.event(told, version: "1-1"), isDraft: false)
        _ = try await q.queue.finalize(job: "told", fence: told.fence)
        switch end {
        case "cancelled": _ = try await q.queue.cancel(["a"], reason: "replaced")
        case "dead":
            _ = try await q.queue.fail(
                try await q.claim(), by: "w", Failure(.missingAsset, "no"), random: 1)
        default:
            let a = try await q.claim()
            _ = try await q.queue.commit(a, q.event(a, version: "2-2"), isDraft: false)
            _ = try await q.queue.finalize(job: "a", fence: a.fence)
        }
        let next = try await q.claim()
        var event = q.event(next, version: "3-3")
        event.untold = [
            .init(version: "2-2", job: "a"), .init(version: "1-1", job: "told"),
            .init(version: "0-9", job: "forgotten"),
        ]
        _ = try await q.queue.commit(next, event, isDraft: false)
        _ = try await q.queue.finalize(job: "next", fence: next.fence)
        guard case .completed(let data)? = try await q.events().last?.data else {
            Issue.record("no data")
            return
        }
        #expect(data.untold == (end == "told later" ? nil : [.init(version: "2-2", job: "a")]))
    }

    @Test func `a placeholder is told while the job goes on`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        #expect(
            try await q.queue.preview(claim, placeholder: "data:image/jpeg;base64,AA==") == .held)
        #expect(try await q.state(of: "a") == "active")
        #expect(try await q.events().map(\.id) == ["\(q.queue.name)/a/1/previewed/\(claim.fence)"])
    }

    @Test func `a worker that lost its job is told so at every write`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        let zombie = try await q.claim(by: "zombie")
        _ = try await q.queue.reap(by: "other")
        let heir = try await q.claim(by: "heir")

        #expect(
            try await q.queue.commit(zombie, q.event(zombie, version: "1-1"), isDraft: false)
                == .fenced)
        #expect(try await q.queue.finalize(job: "a", fence: zombie.fence) == .fenced)
        #expect(try await q.queue.conclude(zombie, unchanged) == .fenced)
        #expect(
            try await q.queue.fail(zombie, by: "z", Failure(.ioFailure, ""), random: 1) == .fenced)
        #expect(try await q.queue.release(job: "a", fence: zombie.fence, .shutdown) == .fenced)
        #expect(
            try await q.queue.beat(
                [Beat(hold: zombie.hold)], by: QueueFixture.worker
            ).replies == [.fenced])
        #expect(try await q.state(of: "a") == "active")
        try await q.finish(heir)
        #expect(try await q.events().count == 1)
    }

    @Test func `a permanent failure is not retried`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let failure = Failure(.missingAsset, "there is no original a")
        _ = try await q.queue.fail(q.claim(), by: "w", failure, random: 1)
        #expect(try await q.state(of: "a") == "dead")
        let event = try #require(try await q.events().first)
        guard case .failed(let data) = event.data else { Issue.record("\(event)"); return }
        #expect(data.error == JobEvent.Reason(failure))
        #expect(data.attempt == 1)
        #expect(try await q.queue.attempts(of: "a").map(\.message) == [failure.message])
    }

    @Test func `a passing failure is retried until its attempts are used up`() async throws {
        var settings = QueueSettings()
        settings.retry.attemptsMax = 3
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a")
        for attempt in 1...3 {
            let claim = try await q.claim()
            #expect(claim.attempt == attempt)
            _ = try await q.queue.fail(claim, by: "w", Failure(.ioFailure, "no"), random: 0)
        }
        #expect(try await q.state(of: "a") == "dead")
        #expect(try await q.events().map(\.name) == ["retried", "retried", "failed"])
        #expect(Set(try await q.events().map(\.id)).count == 3)
        #expect(try await q.queue.attempts(of: "a").count == 3)
    }

    @Test func `a job that is handed back keeps its place and its attempts`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        let claim = try await q.claim()
        #expect(try await q.queue.release(job: "a", fence: claim.fence, .shutdown) == .held)
        let again = try await q.claim()
        #expect(again.job == "a")
        #expect(again.attempt == 1)
    }

    @Test func `a job handed back for want of memory is counted and burns nothing`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        #expect(try await q.queue.release(job: "a", fence: claim.fence, .pressure) == .held)
        let again = try await q.claim(by: "another")
        #expect(again.attempt == 1)
        #expect(again.rebases == 0)
        let record = try #require(try await q.queue.record(of: "a"))
        #expect((record.attempts, record.crashes) == (0, 0))
        #expect(try await q.queue.status().counters["requeued"] == 1)
        #expect(try await q.events().isEmpty)
        try await q.finish(again)
    }

    @Test func `a job that has to be rendered anew is counted, also after its commit`() async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        _ = try await q.queue.commit(claim, q.event(claim, version: "1-1"), isDraft: false)
        _ = try await q.queue.release(job: "a", fence: claim.fence, .rebase)
        let again = try await q.claim()
        #expect(again.rebases == 1)
        #expect(again.attempt == 1)
        #expect(try await q.queue.record(of: "a")?.version == nil)
        try await q.finish(again)
    }

    @Test func `what stays of done jobs is bounded in number`() async throws {
        var settings = QueueSettings()
        settings.doneRecordsMax = 3
        let q = try await QueueFixture(settings: settings)
        for job in ["a", "b", "c", "d", "e"] {
            try await q.admit(job)
            try await q.finish(q.claim())
        }
        #expect(try await q.state(of: "a") == nil)
        #expect(try await q.state(of: "b") == nil)
        #expect(try await q.state(of: "e") == "done")
        #expect(try await q.queue.outcome(of: "e") != nil)
    }

    @Test func `long results of done jobs are bounded in bytes, and count until their records go`()
        async throws
    {
        var settings = QueueSettings()
        settings.doneRecordsMax = 100
        let q = try await QueueFixture(settings: settings)
        let ids = (0..<10).map { "j\($0)" }
        for id in ids {
            try await q.xadd(["id": id, "asset": id, "edit": QueueFixture.recipe])
        }
        _ = try await q.queue.admit()
        _ = try await q.queue.cancel(ids, reason: String(repeating: "x", count: 20_000))
        var kept = 0
        for id in ids where try await q.queue.outcome(of: id) != nil { kept += 1 }
        // Of each of the 100 jobs, 640 bytes of long results are kept.
        #expect(kept == 3)
        #expect(try await q.events().count == 10)
        settings.keepDone = .zero
        let forgetful = JobQueue(name: q.queue.name, redis: q.redis, settings: settings)
        _ = try await forgetful.reap(by: "w")
        #expect(try await q.field("resultBytes", of: "virtual") == "0")
        try await q.expectHealthy()
    }

    @Test func `what stays of done jobs is bounded in time`() async throws {
        var settings = QueueSettings()
        settings.keepDone = .zero
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a", "b")
        try await q.finish(q.claim())
        _ = try await q.queue.reap(by: "anybody")
        #expect(try await q.state(of: "a") == nil)
        #expect(try await q.queue.outcome(of: "a") == nil)
        #expect(try await q.state(of: "b") == "ready")
        #expect(try await q.redis.send(["LLEN", "\(q.queue.name.keys.prefix)done"]).int == 0)
    }

    @Test func `the history of a job is bounded`() async throws {
        var settings = QueueSettings()
        settings.retry.attemptsMax = 30
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a")
        for number in 1...25 {
            _ = try await q.queue.fail(
                q.claim(), by: "w", Failure(.ioFailure, "\(number)"), random: 0)
        }
        let history = try await q.queue.attempts(of: "a")
        #expect(history.count == 20)
        #expect(history.first?.message == "25")
    }
}
