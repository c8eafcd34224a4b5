import Edits
import FoundationEssentials
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// Publications that fail: carried on a bounded number of times, then visible until somebody ends them.
@Suite("Publications that fail") struct StuckTests {
    private static let noDisk = Failure(.ioFailure, "the disk is gone.")

    /// A queue in which every lease is over at once and a version is carried on so often.
    private func fixture(carriesMax: Int = 5) async throws -> QueueFixture {
        var settings = QueueFixture.expiredAtOnce
        settings.carriesMax = carriesMax
        return try await QueueFixture(settings: settings)
    }

    @Test func `a failed publication is handed on at once and counts no crash`() async throws {
        let q = try await QueueFixture()
        try await q.prepare("committing")
        let fence = try #require(try await q.queue.record(of: "a")?.fence)
        for _ in 1...2 {
            // The second call is one whose first reply was lost.
            #expect(
                try await q.queue.handOn(
                    job: "a", fence: fence, by: "w", Self.noDisk, carries: 0, random: 0) == .held)
        }
        let reason = try await q.queue.facts(of: "a").reason
        guard case .publishingAgain(_, let error, _) = reason else {
            Issue.record("\(reason)")
            return
        }
        #expect(error.code == "ioFailure")
        #expect(error.message.hasPrefix("the disk is gone."))
        let carried = try #require(try await q.queue.reap(by: "heir").carried.first)
        #expect(carried.job == "a" && carried.carries == 1 && carried.generation == 1)
        #expect(try await q.queue.status().counters["crashed"] == nil)
        let history = try await q.queue.attempts(of: "a")
        #expect(history.map(\.code) == [.ioFailure] && history.first?.stage == "publishing")
        #expect(try await q.queue.finalize(job: "a", fence: carried.fence) == .held)
    }

    @Test func `a heartbeat does not renew the lease of a job that was handed on`() async throws {
        let q = try await QueueFixture()
        try await q.prepare("committing")
        let fence = try #require(try await q.queue.record(of: "a")?.fence)
        _ = try await q.queue.handOn(
            job: "a", fence: fence, by: "w", Self.noDisk, carries: 0, random: 0)
        let beat = Beat(hold: Hold(job: "a", fence: fence), stage: nil)
        #expect(try await q.queue.beat([beat], by: QueueFixture.worker).replies == [.held])
        #expect(try await q.queue.reap(by: "heir").carried.map(\.job) == ["a"])
    }

    @Test(arguments: [0, 2])
    func `a publication is carried on so often and then stuck, with its error in every place`(
        carriesMax: Int
    ) async throws {
        let q = try await fixture(carriesMax: carriesMax)
        try await q.prepare("committing")
        var fence = try #require(try await q.queue.record(of: "a")?.fence)
        for carries in 0...carriesMax {
            _ = try await q.queue.handOn(
                job: "a", fence: fence, by: "w", Self.noDisk, carries: carries, random: 0)
            guard carries < carriesMax else { break }
            fence = try #require(try await q.queue.reap(by: "w").carried.first).fence
        }
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(record.state == .stuck && record.code == .ioFailure)
        #expect(record.message == Self.noDisk.message)
        let status = try await q.queue.status()
        #expect(status[.stuck] == 1 && status[.active] == 0 && status.counters["stuck"] == 1)
        #expect(status.stuckJobs == [record])
        let event = try #require(try await q.events().last)
        guard case .stuck(let data) = event.data else { Issue.record("\(event)"); return }
        #expect(data.job == "a" && data.carries == carriesMax && data.error.code == .ioFailure)
        #expect(event.id == "\(q.queue.name)/a/1/stuck/\(fence)")
        #expect(try await q.queue.facts(of: "a").reason.code == "stuck")
        // The edit that came later waits, and says for what.
        #expect(try await q.state(of: "b") == "parked")
        let waits = try await q.queue.facts(of: "b").reason
        guard case .behindAsset(_, let holder?) = waits else {
            Issue.record("\(waits)")
            return
        }
        #expect(holder.job == "a" && holder.state == "stuck")
        #expect(try await q.queue.reap(by: "w").carried.isEmpty)
        let diagnosis = try await q.queue.diagnose()
        #expect(diagnosis.open.map(\.kind) == [.publicationStuck])
    }

    @Test func `no event has a path of the server, and what operators look at has it`() async throws
    {
        let failure = Failure(.ioFailure, "/srv/photos/edits is full: jpegsave(Q: 90): no room")
        let q = try await fixture(carriesMax: 0)
        try await q.prepare("committing")
        let fence = try #require(try await q.queue.record(of: "a")?.fence)
        _ = try await q.queue.handOn(
            job: "a", fence: fence, by: "w", failure, carries: 0, random: 0)
        guard case .stuck(let stuck) = try #require(try await q.events().last).data else {
            Issue.record("no event"); return
        }
        #expect(stuck.error.message == "… is full: no room")
        #expect(try await q.queue.record(of: "a")?.message == failure.message)
        _ = try await q.queue.cancel(["a"], reason: "enough")
        guard case .cancelled(let cancelled) = try #require(try await q.events().last).data else {
            Issue.record("no event"); return
        }
        #expect(!cancelled.reason.contains("/srv"))
        #expect(JobEvent.Death(failure).error.message == "… is full: no room")
        #expect(JobEvent.RenditionError(failure).message == "… is full: no room")
    }

    @Test func `a publication over which workers die is stuck after as many carries`() async throws
    {
        let q = try await fixture(carriesMax: 2)
        try await q.prepare("committing")
        for carries in 1...2 {
            #expect(try await q.queue.reap(by: "w\(carries)").carried.map(\.carries) == [carries])
        }
        #expect(try await q.queue.reap(by: "w3").carried.isEmpty)
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(record.state == .stuck && record.code == .workerLost)
        #expect(record.message?.contains("worker w2 let its lease run out") == true)
    }

    @Test func `a replay publishes what is stuck once more, in the same generation`() async throws {
        let q = try await fixture()
        try await q.prepare("stuck")
        #expect(try await q.queue.replay(["a"], with: Edit(json: QueueFixture.recipe)) == [.stuck])
        #expect(try await q.queue.replay(["a"]) == [.replayed])
        #expect(try await q.queue.status()[.stuck] == 0)
        let carried = try #require(try await q.queue.reap(by: "heir").carried.first)
        #expect(carried.generation == 1 && carried.carries == 1)
        #expect(try await q.queue.finalize(job: "a", fence: carried.fence) == .held)
        #expect(try await q.state(of: "b") == "ready")
        #expect(try await q.events().map(\.name) == ["stuck", "completed"])
        #expect(try await q.queue.diagnose().open == [])
    }

    @Test func `what is stuck can be cancelled, which says why it was, and frees its asset`()
        async throws
    {
        let q = try await fixture()
        try await q.prepare("stuck")
        #expect(try await q.queue.cancel(["a"], reason: "enough") == [.cancelled])
        guard case .cancelled(let data) = try #require(try await q.events().last).data else {
            Issue.record("no event"); return
        }
        #expect(data.reason.hasPrefix("enough; its version "))
        // The message is in the event of getting stuck; the record's may have a path of the server.
        #expect(data.reason.hasSuffix("could not be published: ioFailure"))
        #expect(try await q.state(of: "b") == "ready")
        #expect(try await q.queue.diagnose().open == [])
    }

    @Test func `a newer edit that replaces what waits takes the place of what is stuck`()
        async throws
    {
        let q = try await fixture()
        try await q.prepare("stuck")
        try await q.xadd([
            "id": "new", "asset": "photo", "edit": QueueFixture.recipe, "replace": "waiting",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.state(of: "a") == "done")
        #expect(try await q.state(of: "new") == "ready")
    }

    @Test func `a batch and a tenant that are cancelled end their jobs that are stuck`()
        async throws
    {
        let q = try await fixture(carriesMax: 0)
        let batch = try BatchID("m")
        try await q.queue.open(BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.add([.init(asset: try AssetPath("x"))], to: batch, from: 0)
        try await q.queue.seal(batch, jobs: 1)
        try await q.xadd(["id": "t", "asset": "y", "edit": QueueFixture.recipe, "tenant": "acme"])
        _ = try await q.queue.admit()
        _ = try await q.queue.admit()
        for claim in try await q.queue.claim(by: "w", count: 2).jobs {
            _ = try await q.queue.commit(claim, q.event(claim), isDraft: false)
            _ = try await q.queue.handOn(
                job: claim.job, fence: claim.fence, by: "w", Self.noDisk, carries: 0, random: 0)
        }
        #expect(try await q.queue.status()[.stuck] == 2)
        _ = try await q.queue.cancelWhole(batch, reason: "over")
        #expect(try await q.state(of: "m:0") == "done")
        #expect(try await q.queue.cancelJobs(of: JobID("acme"), reason: "over").cancelled == 1)
        #expect(try await q.queue.status()[.stuck] == 0)
    }

    @Test(arguments: ["version", "outcome", "claimed"])
    func
        `a committing job whose record is broken is stuck and keeps no other from being carried on`(
            field: String
        ) async throws
    {
        let q = try await fixture()
        try await q.admit("a", "b")
        for claim in try await q.queue.claim(by: "w", count: 2).jobs {
            _ = try await q.queue.commit(claim, q.event(claim), isDraft: false)
        }
        try await q.harm(["HDEL job:a \(field)"])
        let reaped = try await q.queue.reap(by: "heir")
        #expect(reaped.carried.map(\.job) == ["b"] && reaped.problems.isEmpty)
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(record.state == .stuck && record.code == .internalError)
        #expect(record.message?.contains("has no \(field)") == true)
        // Its version is not known any more, so it is made again.
        #expect(try await q.queue.replay(["a"]) == [.replayed])
        #expect(try await q.claim().job == "a")
    }

    @Test func `a job whose record does not name its worker is taken back`() async throws {
        let q = try await fixture()
        try await q.admit("a")
        _ = try await q.claim()
        try await q.harm(["HDEL job:a worker"])
        let reaped = try await q.queue.reap(by: "heir")
        #expect(reaped.ready == 1 && reaped.problems.isEmpty)
    }

    @Test func `a job that cannot be taken back is told and keeps no other from it`() async throws {
        let q = try await fixture()
        try await q.admit("a", "b")
        _ = try await q.queue.claim(by: "w", count: 2)
        try await q.harm(["DEL job:a", "SET job:a x"])
        let reaped = try await q.queue.reap(by: "heir")
        #expect(reaped.ready == 1)
        #expect(reaped.problems.count == 1 && reaped.problems[0].hasPrefix("job a: ERROR "))
    }

    @Test func `jobs that cannot be taken back keep no others from it, however many they are`()
        async throws
    {
        var settings = QueueFixture.expiredAtOnce
        settings.reapMax = 2
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a", "b", "c")
        _ = try await q.queue.claim(by: "w", count: 3)
        try await q.harm([
            "ZADD lease 1 a", "ZADD lease 2 b", "ZADD lease 3 c", "DEL job:a", "SET job:a x",
            "DEL job:b", "SET job:b x",
        ])
        #expect(try await q.queue.reap(by: "heir").problems.count == 2)
        #expect(try await q.queue.reap(by: "heir").ready == 1)
    }

    @Test(arguments: ["HDEL job:m:0 outcome", "DEL result:m:0|LPUSH result:m:0 x"])
    func `one broken job of a shared finalize harms neither the others nor their batch's counts`(
        harm: String
    ) async throws {
        let q = try await QueueFixture()
        let batch = try BatchID("m")
        try await q.queue.open(BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.add(
            [.init(asset: try AssetPath("x")), .init(asset: try AssetPath("y"))], to: batch, from: 0
        )
        try await q.queue.seal(batch, jobs: 2)
        _ = try await q.queue.admit()
        _ = try await q.queue.admit()
        let claims = try await q.queue.claim(by: "w", count: 2).jobs
        for claim in claims {
            _ = try await q.queue.commit(claim, q.event(claim), isDraft: false)
        }
        try await q.harm(harm.split(separator: "|").map(String.init))
        let reply = try await q.queue.run(
            QueueScript.finalize,
            claims.flatMap { [RedisArgument($0.job), RedisArgument($0.fence)] })
        let answers = try #require(reply.array?.map { $0.string ?? "?" })
        #expect(answers[0] == "GONE" || answers[0].hasPrefix("ERROR "))
        #expect(answers[1] == "OK")
        #expect(try await q.field("done", of: "batch:m") == "1")
        #expect(try await q.queue.status().counters["completed"] == 1)
    }

    @Test func `an answer of a script that nobody knows is no reason to ask for ever`() async throws
    {
        let q = try await QueueFixture()
        try await q.prepare("committing")
        try await q.harm(["DEL result:a", "LPUSH result:a x"])
        let fence = try #require(try await q.queue.record(of: "a")?.fence)
        let error = await #expect(throws: QueueError.self) {
            try await q.queue.finalize(job: "a", fence: fence)
        }
        #expect(error?.code == .unexpectedReply)
    }

    @Test func `a parked job whose record is gone keeps nobody behind it waiting`() async throws {
        let q = try await QueueFixture()
        try await q.prepare("active")
        try await q.xadd(["id": "c", "asset": "photo", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        try await q.harm(["DEL job:b"])
        let fence = try #require(try await q.queue.record(of: "a")?.fence)
        _ = try await q.queue.cancel(["a"], reason: "no")
        let a = try #require(try await q.queue.record(of: "a"))
        #expect(a.fence == fence)
        _ = try await q.queue.run(
            QueueScript.conclude, ["a", RedisArgument(fence), "cancelled"])
        #expect(try await q.state(of: "c") == "ready")
    }
}
