import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("What is known of a batch") struct BatchRecordTests {
    private let batch: BatchID

    init() throws { batch = try BatchID("b") }

    private func filled(
        _ q: QueueFixture, _ count: Int, isSealed: Bool = true
    ) async throws {
        try await q.queue.open(
            BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe)))
        let members = try (0..<count).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }
        #expect(try await q.queue.add(members, to: batch, from: 0) == .added(count))
        if isSealed { try await q.queue.seal(batch, jobs: count) }
        _ = try await q.queue.admit()
    }

    @Test func `members that are sent again are not there twice`() async throws {
        let q = try await QueueFixture()
        try await filled(q, 3, isSealed: false)
        let members = try (0..<5).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }
        #expect(try await q.queue.add(members, to: batch, from: 0) == .added(2))
        #expect(try await q.queue.add(members, to: batch, from: 0) == .added(0))
    }

    @Test func `members behind a gap are not taken, or those in it would be lost`() async throws {
        let q = try await QueueFixture()
        try await filled(q, 3, isSealed: false)
        let member = JobQueue.Member(asset: try AssetPath("late"))
        #expect(try await q.queue.add([member], to: batch, from: 4) == .gap(after: 3))
        #expect(try await q.queue.add([member], to: batch, from: 3) == .added(1))
    }

    @Test func `a record counts what became of the jobs`() async throws {
        let q = try await QueueFixture()
        #expect(try await q.queue.record(of: batch) == nil)
        try await filled(q, 4)
        try await q.finish(q.claim())
        _ = try await q.queue.fail(
            q.claim(), by: "a", Failure(.damagedPhoto, "no"), random: 1)
        _ = try await q.queue.cancel(["\(batch):2"], reason: "twice")
        let open = try #require(try await q.queue.record(of: batch))
        #expect([open.done, open.dead, open.cancelled, open.remaining] == [1, 1, 1, 1])
        #expect(open.sealed == 4 && !open.isComplete)
        #expect(try await q.queue.openBatches().count == 1)
        try await q.finish(q.claim())
        #expect(try await q.queue.record(of: batch)?.isComplete == true)
        #expect(try await q.queue.openBatches().isEmpty)
        #expect(try await q.queue.batches(count: 10).records.count == 1)
    }

    @Test func `a cancelled batch takes no more and has nothing left`() async throws {
        var settings = QueueSettings()
        settings.window = 300
        let q = try await QueueFixture(settings: settings)
        try await filled(q, 900)
        _ = try await q.queue.admit()
        let (answer, open) = try await q.queue.cancelWhole(batch, reason: "no more")
        #expect(answer == .cancelled && open == 0)
        let record = try #require(try await q.queue.record(of: batch))
        #expect(record.cancelled == 900 && record.cancel == "no more")
        let member = JobQueue.Member(asset: try AssetPath("late"))
        #expect(try await q.queue.add([member], to: batch, from: 900) == .cancelled)
        let (again, _) = try await q.queue.cancelWhole(batch, reason: "no more")
        #expect(again == .ended)
        let (unknown, _) = try await q.queue.cancelWhole(BatchID("other"), reason: "no more")
        #expect(unknown == .unknown)
    }

    @Test func `all jobs of a tenant are cancelled, whatever their state, and of no other`()
        async throws
    {
        let q = try await QueueFixture()
        for (id, asset, tenant, extra) in [
            ("run", "a", "acme", nil), ("wait", "b", "acme", nil), ("parked", "a", "acme", nil),
            ("late", "c", "acme", "2100-01-01T00:00:00Z"), ("other", "d", "zeta", nil),
        ] as [(String, String, String, String?)] {
            try await q.xadd([
                "id": id, "asset": asset, "tenant": tenant, "edit": QueueFixture.recipe,
                "notBefore": extra ?? "2000-01-01T00:00:00Z",
            ])
        }
        _ = try await q.queue.admit()
        #expect(try await q.claim().job == "run")
        let result = try await q.queue.cancelJobs(of: JobID("acme"), reason: "ended")
        #expect(result == JobQueue.Cancellations(cancelled: 3, notified: 1, publishing: 0))
        #expect(try await q.state(of: "other") == "ready")
        for id in ["wait", "parked", "late"] {
            #expect(try await q.queue.record(of: id)?.outcome == "cancelled", "\(id)")
        }
    }

    @Test(
        arguments: [
            ([:], nil),
            // Ten jobs rendered something in 200 ms each, and ten found that nothing was to do.
            (
                ["done": "20", "milliseconds": "2010", "costJobs": "10", "costMs": "2000"],
                80 * 200 / 4
            ),
            // What is left was said to cost 900, and jobs took twice what was said.
            (
                [
                    "done": "10", "milliseconds": "900", "costEnded": "100", "costTotal": "1000",
                    "costJobs": "5", "costMs": "100", "costStated": "50",
                ],
                900 * 2 / 4
            ),
            (["done": "100", "costJobs": "100", "costMs": "1"], 0),
            // No more run at a time than the cap allows, or than are left.
            (["cap": "1", "done": "20", "costJobs": "10", "costMs": "2000"], 80 * 200),
            (["done": "99", "costJobs": "10", "costMs": "6000000"], 600_000),
        ] as [([String: String], Int?)])
    func `the rest takes what jobs cost so far, on all slots`(
        fields: [String: String], milliseconds: Int?
    ) throws {
        let record = try #require(
            BatchRecord(
                "b", ["tenant": "t", "opened": "0", "sealed": "100"].merging(fields) { $1 },
                lane: 0, now: 1000))
        #expect(
            record.remainingTime(slots: 4) == milliseconds.map { Duration.milliseconds($0) })
    }

    @Test func `the rest takes no more slots than the cap of its tenant allows`() async throws {
        let q = try await QueueFixture()
        try await q.queue.open(BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.add(
            try (0..<8).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }, to: batch, from: 0)
        _ = try await q.queue.admit()
        try await q.harm(["HSET batch:b costMs 1000 costJobs 1"])
        func rest() async throws -> Duration? {
            try await q.queue.record(of: batch)?.remainingTime(slots: 4)
        }
        #expect(try await rest() == .seconds(2))
        try await q.queue.set([.cap(nil, 2)])
        #expect(try await rest() == .seconds(4))
        try await q.queue.set([.cap(JobID("default"), 1)])
        #expect(try await rest() == .seconds(8))
        // A paused tenant's batch takes nobody knows how long.
        try await q.queue.set([.cap(JobID("default"), 0)])
        #expect(try await rest() == nil)
    }
}
