import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Why a job is where it is") struct ExplainTests {
    @Test func `the facts of a job are those of its state`() async throws {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["asset": "x", "edit": QueueFixture.recipe])
        #expect(try await q.queue.facts(of: entry).state == .incoming)
        try await q.admit("a", "b")
        try await q.xadd(["id": "a2", "asset": "a", "edit": QueueFixture.recipe])
        try await q.xadd([
            "id": "late", "asset": "l", "edit": QueueFixture.recipe,
            "notBefore": "2100-01-01T00:00:00Z",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.queue.facts(of: entry).state == .ready)
        #expect(try await q.queue.facts(of: "b").number("rank") == 2)
        let parked = try await q.queue.facts(of: "a2")
        #expect(parked.state == .parked && parked.text("holder") == "a")
        #expect(try await q.queue.facts(of: "late").has("due"))
        #expect(try await q.queue.facts(of: "nobody").state == .unknown)

        try await q.queue.set([.cap(nil, 1)])
        let claim = try await q.claim()
        #expect(try await q.queue.facts(of: claim.job).text("worker") == "a")
        let capped = try await q.queue.facts(of: "b")
        #expect(capped.has("capped") && capped.number("running") == 1)
        _ = try await q.queue.cancel(["b"], reason: "twice")
        let cancelled = try await q.queue.facts(of: "b").reason
        guard case .cancelled(_, "twice") = cancelled else {
            Issue.record("\(cancelled)")
            return
        }
    }

    @Test func `a job in a lane knows how many of its batch are ahead`() async throws {
        let q = try await QueueFixture()
        let batch = try BatchID("b")
        try await q.queue.open(
            BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe), cap: 2))
        _ = try await q.queue.add(
            try (0..<5).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }, to: batch, from: 0)
        _ = try await q.queue.admit()
        #expect(try await q.queue.facts(of: "b:1").state == .ready)
        let last = try await q.queue.facts(of: "b:4")
        #expect(last.state == .lane && last.number("rank") == 2)
        #expect(try await q.queue.facts(of: "b:5").reason == .unknownMember(batch: "b", .notSent))
    }

    @Test func `a turn is reckoned by what the jobs before it cost, and by caps`() async throws {
        let q = try await QueueFixture()
        for worker in ["a", "b"] { try await q.hear(worker) }  // 4 slots
        let batch = try BatchID("b")
        try await q.queue.open(BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe)))
        let members = try (0..<1010).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }
        for first in [0, JobQueue.membersMax] {
            _ = try await q.queue.add(
                Array(members[first...].prefix(JobQueue.membersMax)), to: batch, from: first)
        }
        while try await q.queue.admit().admitted > 0 {}
        // A photo takes 0.2 s, and a member of the batch, a movie, 60 s.
        try await q.harm([
            "HSET virtual costMs 20000 costJobs 100 costStated 20000",
            "HSET batch:b costMs 600000 costJobs 10 costStated 600000",
        ])
        func about(_ job: String) async throws -> Int? {
            switch try await q.queue.facts(of: job).reason {
            case .freeSlot(_, let about), .inBatchStream(_, _, let about): about
            default: nil
            }
        }
        #expect(try await about("b:999") == (999 + 4) / 4 * 60_000)
        // The thousand that are open come before the first one in the stream.
        #expect(try await about("b:1000") == (1000 + 4) / 4 * 60_000)
        try await q.queue.set([.cap(JobID("default"), 1)])
        #expect(try await about("b:999") == 1000 * 60_000)
        #expect(try await about("b:1000") == 1001 * 60_000)
    }

    @Test func `an entry that never becomes a job is promised nothing`() async throws {
        let q = try await QueueFixture()
        func absence(_ id: String) async throws -> JobReason.Absence? {
            guard case .unknownMember(_, let absence) = try await q.queue.facts(of: id).reason
            else {
                return nil
            }
            return absence
        }
        try await q.addToBatchStream(of: "b", ["asset": "a"])
        #expect(try await absence("b:0") == .unopened)
        #expect(try await absence("b:1") == nil)
        try await q.xadd(["batch": "b", "edit": QueueFixture.recipe, "seal": "3", "cap": "1"])
        _ = try await q.queue.admit()
        for asset in ["b", "c", "d", "e"] {
            try await q.addToBatchStream(of: "b", ["asset": .init(asset)])
        }
        #expect(try await absence("b:3") == .beyondSeal(jobs: 3))
        #expect(try await absence("b:9") == .beyondSeal(jobs: 3))
        #expect(try await q.queue.facts(of: "b:2").reason.code == "noWorker")
        // Dropped unread by a producer: all but the last two.
        let stream = RedisArgument(q.queue.name.keys.batchStream("b"))
        _ = try await q.redis.send(["XTRIM", stream, "MAXLEN", "2"])
        #expect(try await absence("b:1") == .trimmed)
        #expect(try await absence("b:2") == .trimmed)
        try await q.finish(try await q.claim())
        _ = try await q.queue.admit()
        #expect(try await q.queue.facts(of: "b:1").state == .dropped)
        // Long after its end only its name is known.
        try await q.harm([
            "DEL batch:b", "DEL batch:b:edit", "DEL batch:b:ended", "HSET seen:new batch:b x",
            "DEL lane:b",
        ])
        #expect(try await absence("b:1") == .batchDropped)
        try await q.open("lost", members: 1)
        _ = try await q.queue.admit()
        try await q.harm(["DEL job:lost:0"])
        #expect(try await absence("lost:0") == .lost)
    }

    @Test(arguments: [true, false])
    func `a member that is cancelled in its stream has an event, a record and a reason`(
        isCounted: Bool
    ) async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "b", "edit": QueueFixture.recipe, "cap": "1", "seal": "3"])
        _ = try await q.queue.admit()
        for (number, asset) in ["a", "b", "straße.jpg"].enumerated() {
            _ = try await q.redis.send([
                "XADD", RedisArgument(q.queue.name.keys.batchStream("b")),
                isCounted ? "1-\(number + 1)" : "*", "asset", .init(asset),
            ])
        }
        _ = try await q.queue.admit()
        #expect(try await q.queue.cancel(["b:2"], reason: "no") == [.cancelled])
        #expect(try await q.queue.cancel(["b:2"], reason: "no") == [.ended])
        guard case .cancelled(let data) = try await q.events().last?.data else {
            return #expect(Bool(false))
        }
        #expect(data.job == "b:2" && data.asset == "straße.jpg" && data.reason == "no")
        guard case .cancelled(_, "no") = try await q.queue.facts(of: "b:2").reason else {
            return #expect(Bool(false))
        }
        #expect(try await q.queue.record(of: "b:2")?.outcome == "cancelled")
        try await q.expectHealthy()
        try await q.runToTheEnd()
        let record = try await q.queue.record(of: BatchID("b"))
        #expect(record?.done == 2 && record?.cancelled == 1 && record?.isComplete == true)
        try await q.expectHealthy()
    }

    @Test func `a member of a cancelled batch that was in the stream says so`() async throws {
        let q = try await QueueFixture()
        try await q.open("b", members: 4, cap: 1)
        _ = try await q.queue.admit()
        _ = try await q.queue.cancel(BatchID("b"), reason: "enough")
        guard case .cancelled(_, "enough") = try await q.queue.facts(of: "b:2").reason else {
            return #expect(Bool(false))
        }
        #expect(
            try await q.queue.facts(of: "b:4").reason
                == .unknownMember(batch: "b", .beyondSeal(jobs: 4)))
    }
}
