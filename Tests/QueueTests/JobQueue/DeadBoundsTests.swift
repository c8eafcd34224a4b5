import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("How many dead and done jobs stay in Redis") struct DeadBoundsTests {
    private static let large = QueueFixture.recipe + String(repeating: " ", count: 5000)

    private func fixture(_ change: (inout QueueSettings) -> Void = { _ in }) async throws
        -> QueueFixture
    {
        var settings = QueueSettings()
        change(&settings)
        return try await QueueFixture(settings: settings)
    }

    /// Lets jobs of these names die, in their order.
    private func bury(_ q: QueueFixture, _ names: String...) async throws {
        for name in names {
            try await q.admit(name)
            try await q.bury(try await q.claim())
        }
    }

    private func drop(_ q: QueueFixture, _ jobs: [SpilledJob], to file: String?) async throws -> Int
    {
        try await q.queue.removeDead(jobs.map { ($0.job, $0.generation) }, writtenTo: file)
    }

    @Test func `the oldest dead jobs beyond the number are surplus, with all that a replay needs`()
        async throws
    {
        let q = try await fixture { $0.deadMax = 1 }
        try await bury(q, "a", "b")
        let key = RedisArgument(q.queue.name.keys.prefix + "dead")
        _ = try await q.redis.send(["ZADD", key, "1", "a"])
        let surplus = try await q.queue.surplusDead()
        #expect(surplus.map(\.job) == ["a"])
        let job = try #require(surplus.first)
        #expect(job.edit == QueueFixture.recipe && job.asset == "a" && job.isNamed)
        #expect(job.code == "missingAsset" && job.history.count == 1 && job.generation == 1)
        #expect(try await drop(q, surplus, to: "/f") == 1)
        #expect(try await q.state(of: "a") == nil)
        #expect(try await q.queue.status()[.dead] == 1)
        #expect(try await q.queue.status().counters["deadSpilled"] == 1)
        #expect(try await q.queue.spillFiles().map { "\($0.file) \($0.jobs)" } == ["/f 1"])
        #expect(try await q.queue.surplusDead().isEmpty)
        try await q.expectHealthy()
    }

    @Test func `dead jobs are surplus when they are old, and when too many have large edits`()
        async throws
    {
        let old = try await fixture { $0.keepDead = .zero }
        try await bury(old, "a")
        _ = try await old.redis.send([
            "ZADD", RedisArgument(old.queue.name.keys.prefix + "dead"), "1", "a",
        ])
        #expect(try await old.queue.surplusDead().map(\.job) == ["a"])

        let q = try await fixture { $0.deadLargeMax = 1 }
        try await bury(q, "small")
        for id in ["x", "y"] {
            try await q.xadd(["id": .init(id), "asset": .init(id), "edit": .init(Self.large)])
            _ = try await q.queue.admit()
            try await q.bury(try await q.claim())
        }
        #expect(try await q.queue.surplusDead().map(\.job) == ["x"])
        #expect(try await q.queue.replay(["x"]) == [.replayed])
        #expect(try await q.queue.surplusDead().isEmpty)
    }

    @Test func `dead jobs with large edits push out those of their own tenant`() async throws {
        let q = try await fixture { $0.deadLargeMax = 3 }
        for id in ["z1", "a1", "a2", "a3", "a4"] {
            try await q.xadd([
                "id": .init(id), "asset": .init(id), "edit": .init(Self.large),
                "tenant": id.hasPrefix("a") ? "acme" : "zoo",
            ])
            _ = try await q.queue.admit()
            try await q.bury(try await q.claim())
        }
        #expect(try await q.queue.surplusDead().map(\.job) == ["a1", "a2"])
    }

    @Test func `a job that died again is not dropped by its old line`() async throws {
        let q = try await fixture { $0.deadMax = 0 }
        try await bury(q, "a")
        let written = try await q.queue.surplusDead()
        #expect(try await q.queue.replay(["a"]) == [.replayed])
        #expect(try await drop(q, written, to: "/f") == 0)
        try await q.bury(try await q.claim())
        #expect(try await drop(q, written, to: "/f") == 0)
        #expect(try await q.queue.surplusDead().map(\.generation) == [2])
        #expect(try await q.queue.spillFiles().isEmpty)
    }

    @Test func `a job is put back once as its next generation, under its tenant and priority`()
        async throws
    {
        let q = try await fixture { $0.deadMax = 0 }
        try await q.xadd([
            "id": "a", "asset": "p", "edit": QueueFixture.recipe, "tenant": "acme",
            "priority": "interactive",
        ])
        _ = try await q.queue.admit()
        try await q.bury(try await q.claim())
        let job = try #require(try await q.queue.surplusDead().first)
        _ = try await drop(q, [job], to: "/f")
        try await q.xadd(["id": "a", "asset": "p", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        #expect(try await q.state(of: "a") == nil, "its name is remembered")
        #expect(try await q.queue.restore(job) == .replayed)
        #expect(try await q.queue.restore(job) == .notDead)
        let claim = try await q.claim()
        #expect(claim.generation == 2 && claim.tenant == "acme" && claim.edit == job.edit)
        #expect(try await q.queue.record(of: "a")?.priority == "interactive")
        try await q.finish(claim)
        try await q.expectHealthy()
    }

    @Test(arguments: [false, true])
    func `a job is put back from its newest line only`(isNamed: Bool) async throws {
        let q = try await fixture { $0.deadMax = 0 }
        let fields: KeyValuePairs = ["asset": "p", "edit": QueueFixture.recipe]
        if isNamed {
            try await q.xadd(["id": "a", "asset": "p", "edit": QueueFixture.recipe])
        } else {
            try await q.xadd(fields)
        }
        _ = try await q.queue.admit()
        var lines: [SpilledJob] = []
        for generation in 1...2 {
            let claim = try await q.claim()
            #expect(claim.generation == generation)
            try await q.bury(claim)
            let job = try #require(try await q.queue.surplusDead().first)
            _ = try await drop(q, [job], to: "/f")
            lines.append(job)
            if generation == 1 { #expect(try await q.queue.restore(job) == .replayed) }
        }
        #expect(try await q.queue.restore(lines[0]) == .notDead)
        #expect(try await q.queue.restore(lines[1]) == .replayed)
        #expect(try await q.claim().generation == 3)
    }

    @Test func `what never was a job and was dropped gives its id to the next generation`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd(["id": "a", "asset": "a", "edit": QueueFixture.recipe, "colour": "red"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.removeDead([("a", 1)]) == 1)
        try await q.admit("a")
        #expect(try await q.claim().generation == 2)
    }

    @Test func `what was written before a crash, and is still dead, is replayed from its line`()
        async throws
    {
        let q = try await fixture { $0.deadMax = 0 }
        try await bury(q, "a")
        let job = try #require(try await q.queue.surplusDead().first)
        #expect(try await q.queue.restore(job) == .replayed)
        #expect(try await q.queue.restore(job) == .notDead)
        try await q.finish(try await q.claim())
    }

    @Test func `a member that is put back opens its batch again, which else goes`()
        async throws
    {
        let q = try await fixture {
            $0.deadMax = 0
            $0.keepDone = .zero
        }
        try await q.open("b", members: 2, sealed: 2)
        _ = try await q.queue.admit()
        for claim in try await q.claim(2) {
            if claim.job == "b:0" { try await q.bury(claim) } else { try await q.finish(claim) }
        }
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.queue.record(of: BatchID("b")) != nil, "its dead job needs it")
        let job = try #require(try await q.queue.surplusDead().first)
        _ = try await drop(q, [job], to: "/f")
        #expect(try await q.queue.restore(job) == .replayed)
        let claim = try await q.claim()
        #expect(claim.batch == "b" && claim.generation == 2)
        try await q.expectHealthy()
        try await q.bury(claim)
        let again = try await q.queue.surplusDead()
        #expect(again.map(\.generation) == [2])
        _ = try await drop(q, again, to: nil)
        #expect(try await q.queue.status().counters["deadDropped"] == 1)
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.queue.record(of: BatchID("b")) == nil)
        // Its batch is gone, so it runs alone, with the edit that its line has.
        let last = try #require(again.first)
        #expect(try await q.queue.restore(last) == .replayed)
        #expect(try await q.claim().edit == job.edit)
        try await q.expectHealthy()
    }

    @Test func `a wrong entry of a lane keeps its batch as long as its own record`()
        async throws
    {
        let q = try await fixture {
            $0.malformedMax = 1
            $0.keepDone = .zero
        }
        try await q.open("b", members: 0, sealed: 1)
        try await q.addToBatchStream(of: "b", ["colour": "red"])
        _ = try await q.queue.admit()
        #expect(try await q.events().last?.name == "completed")
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.queue.record(of: BatchID("b")) != nil)
        try await q.xadd(["asset": "x"])
        _ = try await q.queue.admit()
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.queue.record(of: BatchID("b")) == nil)
        try await q.expectHealthy()
    }

    @Test func `what never was a job is not put back`() async throws {
        let q = try await fixture { $0.deadMax = 0 }
        try await q.xadd(["id": "wrong", "asset": "a"])
        _ = try await q.queue.admit()
        let job = try #require(try await q.queue.surplusDead().first)
        #expect(job.edit == nil)
        #expect(try await q.queue.restore(job) == .malformed)
    }

    @Test(arguments: [5000, 1000]) func `a done job keeps no long edit, and is still known by it`(
        longer: Int
    ) async throws {
        let long = QueueFixture.recipe + String(repeating: " ", count: longer)
        let q = try await fixture { $0.keepDone = .zero }
        for (id, edit) in [("a", long), ("b", QueueFixture.recipe)] {
            try await q.xadd(["id": .init(id), "asset": "p", "edit": .init(edit)])
            _ = try await q.queue.admit()
            try await q.finish(try await q.claim())
        }
        let key = q.queue.name.keys.prefix + "edit:"
        #expect(try await q.redis.send(["EXISTS", RedisArgument(key + "a")]).int == 0)
        #expect(try await q.redis.send(["EXISTS", RedisArgument(key + "b")]).int == 1)
        try await q.expectHealthy()
        for _ in 1...2 {
            let before = try await q.queue.status().counters
            try await q.xadd(["id": "a", "asset": "p", "edit": .init(long)])
            try await q.xadd(["id": "a", "asset": "p", "edit": .init(long + " ")])
            _ = try await q.queue.admit()
            let after = try await q.queue.status().counters
            #expect((after["duplicates"] ?? 0) - (before["duplicates"] ?? 0) == 1)
            #expect((after["conflicts"] ?? 0) - (before["conflicts"] ?? 0) == 1)
            // The second time only its name is left.
            _ = try await q.queue.reap(by: "w")
            #expect(try await q.state(of: "a") == nil)
        }
    }
}
