import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("The two ingress streams") struct DoorTests {
    @discardableResult
    private func urgent(
        _ q: QueueFixture, _ fields: KeyValuePairs<String, String>, id: String = "*"
    ) async throws -> String {
        let words = fields.flatMap { [RedisArgument($0.key), RedisArgument($0.value)] }
        let reply = try await q.redis.send(
            ["XADD", RedisArgument(q.queue.name.keys.urgentIngress), RedisArgument(id)] + words)
        return try #require(reply.string)
    }

    private func bulk(_ q: QueueFixture, _ count: Int) async throws {
        for number in 0..<count {
            try await q.xadd([
                "asset": "bulk \(number)", "edit": QueueFixture.recipe, "tenant": "flood",
            ])
        }
    }

    @Test func `an urgent entry is a job ahead of all that stand in line, and interactive`()
        async throws
    {
        var settings = QueueSettings()
        settings.admitMax = 10
        let q = try await QueueFixture(settings: settings)
        try await bulk(q, 30)
        let entry = try await urgent(q, ["asset": "a", "edit": QueueFixture.recipe])
        #expect(try await q.queue.facts(of: entry + "-i").state == .incoming)
        #expect(try await q.queue.status()[.incoming] == 31)
        #expect(try await q.queue.admit().admitted == 11)
        let claim = try await q.claim()
        #expect(claim.job == entry + "-i" && claim.asset == "a")
        #expect(try await q.queue.record(of: claim.job)?.priority == "interactive")
        try await q.finish(claim)
        try await q.expectHealthy()
    }

    @Test func `an urgent entry may say another priority, and is checked as any other`()
        async throws
    {
        let q = try await QueueFixture()
        try await urgent(
            q, ["id": "a", "asset": "a", "edit": QueueFixture.recipe, "priority": "bulk"])
        let wrong = try await urgent(q, ["asset": "a", "edit": "{}", "colour": "red"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: "a")?.priority == "bulk")
        #expect(try await q.queue.record(of: wrong + "-i")?.code == .unknownField)
    }

    @Test func `entries of the same id in both streams are two jobs`() async throws {
        let q = try await QueueFixture()
        _ = try await q.redis.send([
            "XADD", RedisArgument(q.queue.name.keys.ingress), "7-0", "asset", "a", "edit", "{}",
        ])
        try await urgent(q, ["asset": "b", "edit": "{}"], id: "7-0")
        #expect(try await q.queue.admit().admitted == 2)
        let jobs = try await q.queue.claim(by: "w", count: 2).jobs
        #expect(jobs.map(\.job) == ["7-0-i", "7-0"])
        #expect(jobs.map(\.asset) == ["b", "a"])
    }

    @Test func `enqueue takes the door of the priority, and says the job's id`() async throws {
        let q = try await QueueFixture()
        for priority in [Priority.interactive, .normal, nil] {
            var scheduling = Scheduling()
            scheduling.priority = priority
            let name = try await q.queue.enqueue(
                JobRequest(
                    asset: AssetPath("a"), edit: Edit(json: QueueFixture.recipe),
                    scheduling: scheduling))
            #expect(name.hasSuffix("-i") == (priority == .interactive))
            let key = priority == .interactive ? "in:interactive" : "in"
            let length = try await q.redis.send([
                "XLEN", RedisArgument("\(q.queue.name.keys.prefix)\(key)"),
            ])
            #expect(length.int == 1)
            _ = try await q.queue.admit()
            #expect(try await q.queue.record(of: name) != nil)
        }
    }

    @Test
    func `what is ahead of the workers is bounded in number, for urgent entries at twice that`()
        async throws
    {
        var settings = QueueSettings()
        settings.aheadMax = 2
        let q = try await QueueFixture(settings: settings)
        try await bulk(q, 4)
        #expect(
            try await q.queue.admit()
                == .init(admitted: 2, isHeld: true, next: nil, mayHaveMore: true))
        #expect(
            try await q.queue.admit()
                == .init(admitted: 0, isHeld: true, next: nil, mayHaveMore: false))
        for asset in ["a", "b", "c"] {
            try await urgent(q, ["asset": asset, "edit": QueueFixture.recipe])
        }
        #expect(try await q.queue.admit().admitted == 2)
        #expect(try await q.queue.status()[.incoming] == 3)
        for _ in 0..<3 { try await q.finish(q.claim()) }
        // The third urgent one takes the room of the next of the flood.
        #expect(
            try await q.queue.admit()
                == .init(admitted: 1, isHeld: true, next: nil, mayHaveMore: true))
        for _ in 0..<4 {
            try await q.finish(q.claim())
            _ = try await q.queue.admit()
        }
        #expect(try await q.queue.status().counters["completed"] == 7)
    }

    @Test func `a paused tenant's jobs do not keep out others, and what is kept out is told`()
        async throws
    {
        var settings = QueueSettings()
        settings.aheadMax = 2
        let q = try await QueueFixture(settings: settings)
        try await q.queue.set([.cap(JobID("flood"), 0)])
        try await bulk(q, 2)
        #expect(try await q.queue.admit().admitted == 2)
        #expect(try await q.queue.claim(by: "w", count: 1).jobs.isEmpty)
        for asset in ["a", "b", "c"] {
            try await q.xadd(["id": asset, "asset": asset, "edit": QueueFixture.recipe])
        }
        #expect(try await q.queue.admit().isHeld)
        let hold = try #require(try await q.queue.status().ingressHold)
        #expect(hold == AdmissionLimit(entries: 1, jobs: 4, bytes: 0))
        #expect(try await q.queue.diagnose().warnings.contains(hold.sentence))
        let facts = try await q.queue.facts(of: "c")
        #expect(facts.text("hold") == hold.sentence && facts.hold == hold)
        // The others' jobs go on, and make room.
        #expect(try await q.claim().job == "a")
        #expect(try await q.claim().job == "b")
    }

    @Test
    func `a paused tenant keeps nobody out by bytes, and neither does a photo with many jobs`()
        async throws
    {
        let large = String(repeating: "x", count: 15_000)
        for isPaused in [true, false] {
            var settings = QueueSettings()
            (settings.aheadMax, settings.aheadBytesMax) = (1000, 60_000)
            let q = try await QueueFixture(settings: settings)
            try await q.queue.set([.cap(JobID("acme"), isPaused ? 0 : nil)])
            for number in 0..<20 {
                try await q.xadd([
                    "id": "\(number)", "asset": isPaused ? "\(number)" : "one",
                    "edit": .init(large),
                    "tenant": "acme",
                ])
                _ = try await q.queue.admit()
                // A claim finds that the tenant may have none.
                if isPaused { #expect(try await q.queue.claim(by: "w", count: 1).jobs.isEmpty) }
            }
            try await q.xadd(["id": "b", "asset": "b", "edit": .init(QueueFixture.recipe)])
            let admission = try await q.queue.admit()
            #expect(!admission.isHeld, "\(isPaused)")
            #expect(try await q.state(of: "b") == "ready", "\(isPaused)")
            // The bound holds for what workers can do, and for all of it together.
            let bytes = try await q.field("aheadBytes", of: "virtual").flatMap { Int($0) } ?? 0
            #expect(bytes >= 20 * 15_000 && bytes <= 11 * 60_000, "\(bytes)")
            for number in 0..<60 {
                try await q.xadd([
                    "id": "more\(number)", "asset": isPaused ? "m\(number)" : "one",
                    "edit": .init(large), "tenant": "acme",
                ])
                _ = try await q.queue.admit()
            }
            #expect(try await q.queue.status().ingressHold != nil, "\(isPaused)")
            try await q.expectHealthy()
        }
    }

    @Test func `a paused tenant that sends small edits first keeps nobody out by large ones`()
        async throws
    {
        let large = String(repeating: "x", count: 15_000)
        var settings = QueueSettings()
        (settings.aheadMax, settings.aheadBytesMax) = (1000, 60_000)
        let q = try await QueueFixture(settings: settings)
        try await q.queue.set([.cap(JobID("acme"), 0)])
        for number in 0..<24 {
            try await q.xadd([
                "id": "\(number)", "asset": "\(number)",
                "edit": number < 20 ? QueueFixture.recipe : large, "tenant": "acme",
            ])
            _ = try await q.queue.admit()
            #expect(try await q.queue.claim(by: "w", count: 1).jobs.isEmpty)
        }
        #expect(try await q.field("aheadBytes", of: "virtual") == "60000")
        try await q.xadd(["id": "b", "asset": "b", "edit": QueueFixture.recipe])
        #expect(try await !q.queue.admit().isHeld)
        #expect(try await q.claim().job == "b")
    }

    @Test func `jobs that were passed on keep nobody out`() async throws {
        var settings = QueueSettings()
        settings.aheadMax = 2
        let q = try await QueueFixture(settings: settings)
        for worker in ["a", "b"] { try await q.hear(worker) }
        try await q.admit("1", "2")
        for _ in 1...2 {
            let claim = try await q.claim(by: "a")
            _ = try await q.queue.passOn(
                claim, by: "a", Failure(.formatUnavailable, "no encoder."), needing: .otherMachine,
                .init())
        }
        #expect(try await q.field("apartJobs", of: "virtual") == "2")
        try await q.admit("3")
        #expect(try await q.claim(by: "a").job == "3")
        // Where the able worker has done them, they make no room any more.
        for claim in try await q.queue.claim(by: "b", count: 2).jobs { try await q.finish(claim) }
        #expect(try await q.field("apartJobs", of: "virtual") == "0")
        #expect(try await q.field("aheadJobs", of: "virtual") == "1")
    }

    @Test func `many paused tenants keep nobody out`() async throws {
        let q = try await QueueFixture()
        try await q.queue.set([.cap(nil, 0), .cap(JobID("free"), 5)])
        for number in 0..<600 {
            try await q.xadd([
                "asset": "\(number)", "edit": QueueFixture.recipe, "tenant": "t\(number)",
            ])
        }
        while try await q.queue.admit().admitted > 0 {}
        while try await q.queue.claim(by: "w", count: 1).hasMore {}
        var settings = QueueSettings()
        settings.aheadMax = 300
        let full = JobQueue(name: q.queue.name, redis: q.redis, settings: settings)
        try await q.xadd([
            "id": "b", "asset": "b", "edit": QueueFixture.recipe, "tenant": "free",
        ])
        #expect(try await !full.admit().isHeld)
        #expect(try await q.claim().job == "b")
    }

    @Test func `one of many paused tenants keeps nobody out with nearly all of their jobs`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.queue.set([.cap(nil, 0), .cap(JobID("free"), 5)])
        for number in 0..<2100 {
            try await q.xadd([
                "asset": "\(number)", "edit": QueueFixture.recipe,
                "tenant": number < 600 ? "t\(number)" : "flood",
            ])
        }
        while try await q.queue.admit().admitted > 0 {}
        while try await q.queue.claim(by: "w", count: 1).hasMore {}
        var settings = QueueSettings()
        settings.aheadMax = 300
        let full = JobQueue(name: q.queue.name, redis: q.redis, settings: settings)
        try await q.xadd([
            "id": "b", "asset": "b", "edit": QueueFixture.recipe, "tenant": "free",
        ])
        // Each call counts other tenants, which stand for all.
        var calls = 1
        while try await full.admit().admitted == 0, calls < 60 { calls += 1 }
        #expect(calls < 60)
        #expect(try await q.claim().job == "b")
    }

    @Test func `what is ahead of the workers is bounded in bytes of large edits`() async throws {
        var settings = QueueSettings()
        settings.aheadBytesMax = 20_000
        let q = try await QueueFixture(settings: settings)
        settings.admitMax = 1
        let one = JobQueue(name: q.queue.name, redis: q.redis, settings: settings)
        let large = String(repeating: "x", count: 15_000)
        for id in ["a", "b", "c"] { try await q.xadd(["id": id, "asset": id, "edit": large]) }
        #expect(try await one.admit().admitted == 1)
        #expect(try await one.admit().admitted == 1)
        #expect(
            try await one.admit() == .init(admitted: 0, isHeld: true, next: nil, mayHaveMore: false)
        )
        let claims = try await one.claim(by: "w", count: 2).jobs
        try await q.finish(claims[0])
        #expect(try await one.admit().admitted == 1)
        _ = try await one.fail(claims[1], by: "w", Failure(.missingAsset, "gone."), random: 0)
        #expect(try await one.cancel(["c"], reason: "no") == [.cancelled])
        let left = try await q.redis.send([
            "HGET", RedisArgument("\(q.queue.name.keys.prefix)virtual"), "aheadBytes",
        ])
        #expect(left.string == "0")
        // A dead one counts again when it is replayed, with the edit that it has then.
        #expect(try await one.replay(["b"]) == [.replayed])
        let again = try await q.redis.send([
            "HGET", RedisArgument("\(q.queue.name.keys.prefix)virtual"), "aheadBytes",
        ])
        #expect(again.string == "15000")
    }

    @Test func `an edit that replaces finds older ones whichever door they came through`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd(["id": "run", "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        _ = try await q.claim()
        try await q.xadd(["id": "old", "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        try await q.passMillisecond()
        try await urgent(
            q, ["id": "new", "asset": "x", "edit": QueueFixture.recipe, "replace": "running"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: "run")?.cancel == "replaced by job new")
        #expect(try await q.state(of: "old") == "done")
        try await q.expectHealthy()
    }

    @Test func `harm to the urgent stream is told and mended as to the other`() async throws {
        let q = try await QueueFixture()
        try await q.admit("before")
        try await urgent(q, ["asset": "a", "edit": QueueFixture.recipe])
        _ = try await q.redis.send([
            "XADD", RedisArgument(q.queue.name.keys.urgentIngress), "MAXLEN", "0", "*", "asset",
            "b",
        ])
        _ = try await q.queue.admit()
        try await urgent(
            q, ["asset": "c", "edit": QueueFixture.recipe], id: "18446744073709551615-0")
        _ = try await q.queue.admit()
        let harms = try await q.events().compactMap { event in
            if case .streamHarmed(let harm) = event.data { harm } else { nil }
        }
        #expect(harms.map(\.stream) == ["in:interactive", "in:interactive"])
        #expect(harms.map(\.kind) == [.trimmed, .renewed])
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.contains("2 entries of the ingress stream in:interactive") })
        #expect(warnings.contains { $0.hasPrefix("the ingress stream in:interactive was ended") })
        try await urgent(q, ["asset": "d", "edit": QueueFixture.recipe])
        #expect(try await q.queue.admit().admitted == 1)
    }

    @Test func `what waits for its time, and members of batches, keep nothing out`() async throws {
        var settings = QueueSettings()
        (settings.aheadMax, settings.aheadBytesMax) = (2, 20_000)
        let q = try await QueueFixture(settings: settings)
        let large = String(repeating: "x", count: 15_000)
        for id in ["a", "b", "c"] {
            try await q.xadd([
                "id": id, "asset": id, "edit": large, "notBefore": "2100-01-01T00:00:00Z",
            ])
        }
        let batch = try await q.open("m", members: 5, sealed: 5)
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.queue.record(of: "\(batch):4")?.state == .ready)
        try await q.admit("d")
        #expect(try await q.state(of: "d") == "ready")
        // A job that is cancelled before its time was never counted.
        #expect(try await q.queue.cancel(["a", "b", "c", "d"], reason: "no").count == 4)
        for fact in ["aheadJobs", "aheadBytes"] {
            let left = try await q.redis.send([
                "HGET", RedisArgument("\(q.queue.name.keys.prefix)virtual"), RedisArgument(fact),
            ])
            #expect(left.string ?? "0" == "0", "\(fact)")
        }
        try await q.expectHealthy()
    }
}
