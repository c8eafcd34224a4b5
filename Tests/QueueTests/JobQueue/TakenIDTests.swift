import Edits
import Redis
import Testing

@testable import JobQueue

/// An id that a counter or a file gives may be another job's: nothing is overwritten, and somebody is told.
@Suite("Ids that are taken") struct TakenIDTests {
    /// A member of a batch that died, was moved to a file, and whose batch and name are forgotten since.
    private func forgottenMember(
        _ q: QueueFixture, edit: String? = nil
    ) async throws -> SpilledJob {
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe, "seal": "1"])
        _ = try await q.queue.admit()
        if let edit {
            try await q.addToBatchStream(of: "m", ["asset": "old", "edit": .init(edit)])
        } else {
            try await q.addToBatchStream(of: "m", ["asset": "old"])
        }
        _ = try await q.queue.admit()
        try await q.bury(try await q.claim())
        let job = try #require(try await q.queue.spilled(["m:0"]).first)
        #expect(
            try await q.queue.removeDead([(job.job, job.generation)], writtenTo: "/f") == 1)
        // The effect of two days and many jobs.
        var settings = q.queue.settings
        settings.keepDone = .zero
        _ = try await JobQueue(name: q.queue.name, redis: q.redis, settings: settings).reap(
            by: "w")
        #expect(try await q.queue.record(of: BatchID("m")) == nil)
        try await q.harm(["DEL seen:new", "DEL seen:old"])
        try await q.passMillisecond()
        return job
    }

    private func openAgain(_ q: QueueFixture, _ assets: String...) async throws {
        try await q.xadd([
            "batch": "m", "edit": QueueFixture.recipe, "seal": .init("\(max(1, assets.count))"),
        ])
        for asset in assets { try await q.addToBatchStream(of: "m", ["asset": .init(asset)]) }
    }

    @Test func `a member does not overwrite a job that was restored under its id, and is told of`()
        async throws
    {
        let q = try await QueueFixture()
        let job = try await forgottenMember(q)
        #expect(try await q.queue.restore(job) == .replayed)
        try await openAgain(q, "new", "newer")
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: "m:0")?.asset == "old")
        try await q.runToTheEnd()
        let events = try await q.events()
        #expect(events.map(\.name).filter { $0 == "conflict" }.count == 1)
        let completed = events.compactMap { event -> String? in
            if case .completed(let data) = event.data { return data.asset }
            return nil
        }
        #expect(completed.sorted() == ["newer", "old"])
        guard
            case .batchCompleted(let counts) = events.last(where: { $0.type.contains("batch") })?
                .data
        else { return #expect(Bool(false), "\(events)") }
        #expect(counts.completed == 1 && counts.cancelled == 1)
        try await q.expectHealthy()
    }

    @Test(arguments: [false, true])
    func `a job is not restored under an id that a later batch has`(isFed: Bool) async throws {
        let q = try await QueueFixture()
        let job = try await forgottenMember(q)
        try await openAgain(q)
        if isFed { try await q.addToBatchStream(of: "m", ["asset": "new"]) }
        _ = try await q.queue.admit()
        #expect(try await q.queue.restore(job) == .conflict)
        if !isFed { try await q.addToBatchStream(of: "m", ["asset": "new"]) }
        try await q.runToTheEnd()
        #expect(try await q.queue.record(of: "m:0")?.asset == "new")
        // Neither when the later batch's member has ended: its end is not this job's.
        try await q.harm(["DEL job:m:0", "DEL result:m:0", "LREM done 0 m:0"])
        #expect(try await q.queue.restore(job) == .conflict)
        #expect(try await q.queue.record(of: BatchID("m"))?.done == 1)
        #expect(
            try await q.queue.diagnose(repair: true).mended.map(\.kind)
                .allSatisfy { $0 == .storedMiscounted })
    }

    @Test func `a member is restored whose batch was opened while the clock was ahead`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe, "seal": "1"])
        _ = try await q.queue.admit()
        let ahead = try await q.queue.now() + 3_600_000
        try await q.setField("opened", of: "batch:m", "\(ahead)")
        try await q.addToBatchStream(of: "m", ["asset": "old"])
        _ = try await q.queue.admit()
        try await q.bury(try await q.claim())
        let job = try #require(try await q.queue.spilled(["m:0"]).first)
        _ = try await q.queue.removeDead([(job.job, job.generation)], writtenTo: "/f")
        #expect(try await q.queue.restore(job) == .replayed)
        try await q.expectHealthy()
    }

    @Test func `a job is not restored over another one that has its id`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.bury(try await q.claim())
        let job = try #require(try await q.queue.spilled(["a"]).first)
        _ = try await q.queue.removeDead([("a", 1)], writtenTo: "/f")
        try await q.harm(["DEL seen:new"])
        try await q.passMillisecond()
        try await q.xadd(["id": "a", "asset": "other", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        #expect(try await q.queue.restore(job) == .conflict)
        // Nor when that one has died in the same generation: then it would be replayed in its stead.
        try await q.bury(try await q.claim())
        #expect(try await q.queue.restore(job) == .conflict)
        #expect(try await q.state(of: "a") == "dead")
        // Nor while another one is submitted and not yet admitted.
        _ = try await q.queue.removeDead([("a", 1)], writtenTo: "/f")
        try await q.harm(["DEL seen:new"])
        _ = try await q.queue.submit(SubmitTests.request("a", asset: "b"), backlogMax: nil)
        #expect(try await q.queue.restore(job) == .conflict)
        try await q.expectHealthy()
    }

    @Test func `a line of a file is not restored again after its job was done and dropped`()
        async throws
    {
        var settings = QueueSettings()
        settings.doneRecordsMax = 0
        let q = try await QueueFixture(settings: settings)
        try await q.xadd(["asset": "p", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        try await q.bury(claim)
        let job = try #require(try await q.queue.spilled([claim.job]).first)
        _ = try await q.queue.removeDead([(job.job, 1)], writtenTo: "/f")
        #expect(try await q.queue.restore(job) == .replayed)
        try await q.finish(try await q.claim())
        #expect(try await q.state(of: job.job) == nil)
        #expect(try await q.queue.restore(job) == .notDead)
    }

    @Test func `an error amid a page of a batch's stream makes no member twice`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe, "seal": "3"])
        _ = try await q.queue.admit()
        for asset in ["a", "b", "c"] {
            try await q.addToBatchStream(of: "m", ["asset": .init(asset)])
        }
        // The jobs that wait for asset `b` cannot be listed.
        try await q.harm(["HSET assets b ghost", "SET parked:b x"])
        #expect(try await q.queue.admit().problems.count == 1)
        let first = try await q.claim()
        #expect(first.job == "m:0")
        try await q.finish(first)
        try await q.harm(["DEL job:m:0", "DEL result:m:0", "LREM done 0 m:0", "ZADD lanes 0 m"])
        _ = try await q.queue.admit()
        #expect(try await q.state(of: "m:0") == nil, "it has ended")
        try await q.harm(["DEL parked:b"])
        _ = try await q.queue.diagnose(repair: true)
        try await q.runToTheEnd()
        let completed = try await q.events().filter { $0.name == "completed" }.map(\.id)
        #expect(Set(completed).count == completed.count)
        #expect(try await q.queue.record(of: BatchID("m"))?.isComplete == true)
    }

    @Test func `a dead letter does not take the record of a job that is named like its entry`()
        async throws
    {
        let q = try await QueueFixture()
        let ingress = RedisArgument(q.queue.name.keys.ingress)
        try await q.xadd(["id": "99-0", "asset": "a", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        _ = try await q.redis.send(["DEL", ingress])
        _ = try await q.redis.send(["XADD", ingress, "99-0", "asset", "b"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: "99-0")?.asset == "a")
        #expect(try await q.queue.dead(offset: 0, count: 9).map(\.asset) == ["b"])
        try await q.finish(claim)
        try await q.expectHealthy()
    }

    @Test func `a submitted job without a name that was cancelled is not run by its entry`()
        async throws
    {
        var settings = QueueSettings()
        settings.doneRecordsMax = 0
        let q = try await QueueFixture(settings: settings)
        guard
            case .accepted(let entry) = try await q.queue.submit(
                SubmitTests.request(nil), backlogMax: nil)
        else { return #expect(Bool(false)) }
        #expect(try await q.queue.cancel([entry], reason: "no") == [.cancelled])
        // A worker of an earlier release has removed the reservation.
        try await q.harm(["DEL reserved"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.claim(by: "w", count: 4).jobs.isEmpty)
        #expect(try await q.events().map(\.name) == ["cancelled", "conflict"])
    }

    @Test func `a batch whose edit Redis lost is not opened anew over its counts`() async throws {
        let q = try await QueueFixture()
        try await q.open("m", members: 2, sealed: 2)
        _ = try await q.queue.admit()
        try await q.harm(["DEL batch:m:edit"])
        try await q.open("m", members: 0)
        _ = try await q.queue.admit()
        #expect(try await q.field("admitted", of: "batch:m") == "2")
        #expect(try await q.events().map(\.name) == ["conflict"])
    }
}
