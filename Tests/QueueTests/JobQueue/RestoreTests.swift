import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Dead jobs that come back from the library") struct RestoreTests {
    /// Members of a batch that died and were moved, in the order of their deaths.
    private func moved(_ count: Int, of batch: String, _ q: QueueFixture) async throws
        -> [SpilledJob]
    {
        try await q.xadd([
            "batch": .init(batch), "edit": .init(QueueFixture.recipe), "seal": .init("\(count)"),
        ])
        _ = try await q.queue.admit()
        for number in 0..<count {
            try await q.addToBatchStream(of: batch, ["asset": .init("a\(number)")])
        }
        _ = try await q.queue.admit()
        var jobs: [SpilledJob] = []
        for _ in 0..<count {
            let claim = try await q.claim()
            try await q.bury(claim)
            jobs += try await q.queue.spilled([claim.job])
        }
        #expect(
            try await q.queue.removeDead(
                jobs.map { ($0.job, $0.generation) }, writtenTo: "/lib/dead/photos-2026-11.ndjson")
                == count)
        return jobs
    }

    @Test func `those of a batch that come together open it once, and complete it once`()
        async throws
    {
        let q = try await QueueFixture()
        let jobs = try await moved(30, of: "b", q)
        let answers = try await q.queue.restore(jobs)
        #expect(answers == Array(repeating: .replayed, count: 30))
        #expect(try await q.queue.record(of: BatchID("b"))?.generation == 2)
        try await q.runToTheEnd()
        #expect(try await q.events().map(\.name).filter { $0 == "completed" }.count == 30 + 2)
        #expect(try await q.queue.diagnose().open.isEmpty)
    }

    @Test func `one that cannot run, or whose record is damaged, keeps no other from it`()
        async throws
    {
        let q = try await QueueFixture()
        var jobs = try await moved(4, of: "b", q)
        jobs[1] = SpilledJob(
            job: "letter", generation: 1, asset: "", edit: nil, tenant: "default",
            priority: "normal", batch: nil, cost: nil, isNamed: false, code: "malformedJob",
            message: nil, died: 1, history: [])
        try await q.harm(["SET job:\(jobs[2].job) text"])
        let answers = try await q.queue.restore(jobs)
        #expect(answers == [.replayed, .malformed, .damaged, .replayed])
    }

    @Test func `a line that no worker can run is refused with what is wrong`() async throws {
        func line(
            _ job: String, _ generation: Int = 1, asset: String = "p.jpg",
            tenant: String = "default", priority: String = "normal", batch: String? = nil
        ) -> SpilledJob {
            SpilledJob(
                job: job, generation: generation, asset: asset, edit: QueueFixture.recipe,
                tenant: tenant, priority: priority, batch: batch, cost: nil, isNamed: true,
                code: "missingAsset", message: nil, died: 1, history: [])
        }
        let wrong = [
            (line("a", asset: "../../etc/passwd"), "leads out of the library"),
            (line("b", asset: ""), "asset is empty"),
            (line("c", tenant: "a b"), "is not a job id"),
            (line("d", priority: "zz"), "priority is"),
            (line("e", priority: "alone"), "priority is"),
            (line("f g"), "is not a job id"),
            (line("h i:3"), "is not a job id"),
            (line("j", batch: "b c"), "is not a job id"),
            (line("k", 0), "generation is 0"),
            (line("l", .max), "generation is"),
        ]
        for (job, sentence) in wrong {
            let message = job.fault?.message ?? "none"
            #expect(message.contains(sentence), "\(job.job): \(message)")
        }
        let right = [line("order:77:photo-3"), line("b:0", batch: "b"), line("1763700000000-0")]
        #expect(right.allSatisfy { $0.fault == nil })
        let q = try await QueueFixture()
        let answers = try await q.queue.restore(wrong.map { $0.0 } + right)
        let refused = [JobQueue.Replay](repeating: .malformed, count: wrong.count)
        #expect(answers == refused + [.replayed, .replayed, .replayed])
        // Those of one asset wait for each other.
        #expect(try await q.queue.status()[.ready] == 1)
        try await q.expectHealthy()
    }

    @Test func `many come in calls of a bounded number`() async throws {
        let q = try await QueueFixture()
        let jobs = try await moved(130, of: "b", q)
        #expect(try await q.queue.restore(jobs).allSatisfy { $0 == .replayed })
        #expect(try await q.queue.status()[.ready] == 130)
        #expect(try await q.queue.restore(jobs).allSatisfy { $0 == .notDead })
    }

    @Test func `the name of a moved job tells where it may be`() async throws {
        let q = try await QueueFixture()
        let job = try #require(try await moved(1, of: "b", q).first)
        try await q.admit("n")
        try await q.bury(try await q.claim())
        #expect(try await q.queue.removeDead([("n", 1)]) == 1)
        // A member of a batch is known by its number, a single job by its name alone.
        for id in ["n", job.job] {
            let facts = try await q.queue.facts(of: id)
            #expect(facts.hasFailed)
            #expect(facts.reason == .moved(places: "/lib/dead/photos-2026-11.ndjson"))
            #expect(facts.reason.code == "moved")
        }
        #expect(try await q.queue.facts(of: "never").reason.code == "unknown")
    }

    @Test func `the doctor names those that an earlier release left on a worker's machine`()
        async throws
    {
        let q = try await QueueFixture()
        _ = try await q.queue.join(QueueLibrary(id: "1", name: "s3://photos/lab"))
        _ = try await moved(1, of: "b", q)
        let warnings = try await q.queue.diagnose().warnings
        #expect(
            warnings.contains { $0.contains("/lib/dead/photos-2026-11.ndjson") }, "\(warnings)")
        let folder = try await QueueFixture()
        _ = try await folder.queue.join(QueueLibrary(id: "1", name: "/lib"))
        _ = try await moved(1, of: "b", folder)
        #expect(try await !folder.queue.diagnose().warnings.contains { $0.contains("scratch") })
    }

    @Test func `a job that was discarded, where none was ever moved, has no place`() async throws {
        let q = try await QueueFixture()
        try await q.admit("n")
        try await q.bury(try await q.claim())
        #expect(try await q.queue.removeDead([("n", 1)]) == 1)
        #expect(try await q.queue.facts(of: "n").reason == .moved(places: nil))
    }
}
