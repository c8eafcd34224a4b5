import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// A worker that leaves jobs to others gets those behind them, however many it leaves, and each call is bounded.
@Suite("Looking past jobs for others") struct LookingPastTests {
    /// A queue with a worker `a`, which can do nothing of what ``addForOthers(_:_:tenant:priority:)`` adds, and a worker `b`.
    private func queue() async throws -> QueueFixture {
        let q = try await QueueFixture()
        for worker in ["a", "b"] { try await q.hear(worker) }
        return q
    }

    private func add(
        _ q: QueueFixture, _ ids: [String], tenant: String = "default",
        priority: String = "normal"
    ) async throws {
        for id in ids {
            try await q.xadd([
                "id": id, "asset": id, "edit": QueueFixture.recipe, "tenant": tenant,
                "priority": priority,
            ])
        }
        while try await q.queue.admit().admitted > 0 {}
    }

    private func addForOthers(
        _ q: QueueFixture, _ count: Int, tenant: String = "default", priority: String = "normal"
    ) async throws {
        let ids = (0..<count).map { "\(priority)-\(tenant)-\($0)" }
        try await add(q, ids, tenant: tenant, priority: priority)
        for id in ids {
            try await q.setField(
                "unable", of: "job:\(id)", "\na\t\(QueueFixture.worker.startedAt)\n")
        }
    }

    /// Claims until the worker would sleep.
    private func claimAll(
        _ q: QueueFixture, by worker: String = "a", count: Int = 1, callsMax: Int = 200
    ) async throws -> [String] {
        var jobs: [String] = []
        for _ in 0..<callsMax {
            let claims = try await q.queue.claim(by: worker, count: count)
            jobs += claims.jobs.map(\.job)
            if !claims.hasMore && claims.jobs.isEmpty { return jobs }
        }
        Issue.record("the worker never sleeps")
        return jobs
    }

    @Test func `finds the one job behind those of many tenants`() async throws {
        let q = try await queue()
        for tenant in 0..<70 { try await addForOthers(q, 5, tenant: "t\(tenant)") }
        try await add(q, ["good"], tenant: "z")
        #expect(try await claimAll(q) == ["good"])
        try await add(q, ["new"], tenant: "y")
        #expect(try await claimAll(q) == ["new"])
        #expect(try await q.queue.diagnose().isHealthy)
        // What was left stands where it stood.
        #expect(try await q.queue.status()[.ready] == 350)
        let others = try await q.queue.claim(by: "b", count: 400).jobs
        #expect(others.count == 350)
    }

    @Test func `finds the jobs behind those of each priority`() async throws {
        let q = try await queue()
        for priority in ["interactive", "normal", "bulk"] {
            for tenant in 0..<5 {
                try await addForOthers(q, 60, tenant: "t\(tenant)", priority: priority)
            }
            try await add(q, ["good-\(priority)"], tenant: "t4", priority: priority)
        }
        #expect(
            try await claimAll(q, count: 2).sorted()
                == ["good-bulk", "good-interactive", "good-normal"])
    }

    @Test func `sleeps when it has looked at everything, and hears no token that it causes itself`()
        async throws
    {
        let q = try await queue()
        for tenant in 0..<50 { try await addForOthers(q, 8, tenant: "t\(tenant)") }
        #expect(try await claimAll(q).isEmpty)
        // A second look costs a few calls, although nothing is new.
        for _ in 0..<3 {
            var calls = 1
            var claims = try await q.queue.claim(by: "a", count: 1)
            while claims.hasMore {
                claims = try await q.queue.claim(by: "a", count: 1)
                calls += 1
            }
            #expect(claims.leavesJobs && claims.jobs.isEmpty && calls <= 3)
        }
    }

    @Test func `sees a job again that comes back among those that it has looked past`()
        async throws
    {
        let q = try await queue()
        try await add(q, ["mine"])
        try await addForOthers(q, 120)
        let mine = try await q.claim(by: "a")
        #expect(mine.job == "mine")
        #expect(try await claimAll(q).isEmpty)
        _ = try await q.queue.release(job: "mine", fence: mine.fence, .rebase)
        #expect(try await claimAll(q) == ["mine"])
    }

    @Test func `begins again by itself when nobody else is left, with no new entry`() async throws {
        let q = try await queue()
        try await addForOthers(q, 120)
        #expect(try await claimAll(q).isEmpty)
        try await q.harm(["ZREM workers b"])
        // The positions are of half a minute before.
        let key = RedisArgument(q.queue.name.keys.prefix + "skips:a")
        let began = try await q.queue.now() - 30_000
        let fields = try #require(try await q.redis.send(["HGETALL", key]).pairs)
        for (field, position) in fields where field.contains(":") {
            var words = position.split(separator: " ").map(String.init)
            words[2] = "\(began)"
            _ = try await q.redis.send([
                "HSET", key, RedisArgument(field), RedisArgument(words.joined(separator: " ")),
            ])
        }
        #expect(try await q.queue.claim(by: "a", count: 5).jobs.count == 5)
    }

    @Test func `is woken and looks at all again when a worker is gone`() async throws {
        let q = try await queue()
        try await addForOthers(q, 120)
        #expect(try await claimAll(q).isEmpty)
        for list in ["wake", "wake:others"] { try await q.harm(["DEL \(list)"]) }
        try await q.harm(["ZADD workers 1 b"])
        _ = try await q.queue.reap(by: "a")
        let client = try q.client()
        #expect(try await q.queue.sleep(atMost: .seconds(60), afterLeaving: true, on: client))
        #expect(try await q.claim(by: "a").job == "normal-default-0")
    }

    @Test func `keeps no positions of a worker that is gone`() async throws {
        let q = try await queue()
        try await addForOthers(q, 120)
        let key = RedisArgument(q.queue.name.keys.prefix + "skips:a")
        for leaves in [true, false] {
            #expect(try await claimAll(q).isEmpty)
            #expect(try await q.redis.send(["EXISTS", key]).int == 1)
            if leaves {
                try await q.queue.leave("a")
                try await q.hear("a")
            } else {
                try await q.harm(["ZADD workers 1 a"])
                _ = try await q.queue.reap(by: "b")
            }
            #expect(try await q.redis.send(["EXISTS", key]).int == 0)
        }
    }

    @Test func `goes on when its positions are damaged`() async throws {
        let q = try await queue()
        try await addForOthers(q, 60)
        try await add(q, ["good"])
        try await q.harm(["SET skips:a nonsense"])
        #expect(try await claimAll(q) == ["good"])
        try await q.harm(["HSET skips:a normal:default nonsense normal 0"])
        try await add(q, ["more"])
        #expect(try await claimAll(q) == ["more"])
    }

    @Test func `reaches the members of a batch behind a window that it leaves`() async throws {
        var settings = QueueSettings()
        settings.window = 4
        let q = try await QueueFixture(settings: settings)
        for worker in ["a", "b"] { try await q.hear(worker) }
        let batch = try BatchID("b")
        try await q.queue.open(BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.add(
            try (0..<60).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }, to: batch, from: 0
        )
        func feed() async throws { while try await q.queue.admit().admitted > 0 {} }
        func passOn(_ claim: Claim) async throws {
            _ = try await q.queue.passOn(
                claim, by: "a", Failure(.formatUnavailable, "no encoder."), needing: .otherMachine,
                .init())
        }
        try await feed()
        for number in 0..<10 {
            let claim = try await q.claim(by: "a")
            #expect(claim.job == "b:\(number)")
            try await passOn(claim)
            try await feed()
        }
        #expect(try await q.field("apart", of: "batch:b") == "10")
        #expect(try await q.queue.record(of: batch)?.admitted == 14)
        // They are bounded all the same: by ten windows.
        while let claim = try await q.queue.claim(by: "a", count: 1).jobs.first {
            try await passOn(claim)
            try await feed()
        }
        let most = try #require(try await q.queue.record(of: batch)?.admitted)
        #expect((30...40).contains(most))
        // Each that ends makes room as before, and is counted no more.
        let done = try await q.claim(by: "b")
        #expect(done.job == "b:0")
        try await q.finish(done)
        #expect(try await q.field("apart", of: "batch:b") == "\(most - 1)")
        try await feed()
        #expect(try await q.queue.record(of: batch)?.admitted ?? 0 > most)
        #expect(try await q.queue.diagnose().isHealthy)
    }

    @Test func `a worker becomes idle for no job in quarantine that it leaves to others`()
        async throws
    {
        let q = try await queue()
        try await addForOthers(q, 1)
        try await q.harm([
            "HSET job:normal-default-0 priority alone was normal",
            "ZREM ready:normal:default normal-default-0", "ZREM flows:normal default",
            "ZADD ready:alone:default 1 normal-default-0", "ZADD flows:alone 0 default",
        ])
        let busy = try await q.queue.claim(by: "a", count: 1, isIdle: false)
        #expect(!busy.requiresIdle)
        #expect(try await q.queue.claim(by: "b", count: 1, isIdle: false).requiresIdle)
        #expect(try await q.claim(by: "b").job == "normal-default-0")
    }
}

/// While a script runs, Redis does nothing else.
extension LookingPastTests {
    @Test func `each call looks at a bounded number`() async throws {
        let world = try await LargeWorld(QueueFixture(on: try await RedisServer.start()))
        let q = world.q
        for worker in ["w", "b"] { try await q.hear(worker) }
        try await world.addTenants(2000)
        for number in 1...2000 {
            try await q.setField(
                "unable", of: "job:job\(number)", "\nw\t\(QueueFixture.worker.startedAt)\n")
        }
        try await q.xadd(["id": "good", "asset": "good", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        var (jobs, calls, hasMore) = ([String](), 0, true)
        while hasMore && calls < 100 {
            let claim = try await world.commands("claim that looks past jobs") {
                try await q.queue.claim(by: "w", count: 2)
            }
            #expect(claim.count <= LargeWorld.commandsMax)
            jobs += claim.result.jobs.map(\.job)
            (calls, hasMore) = (calls + 1, claim.result.hasMore)
        }
        #expect(jobs == ["good"] && !hasMore)
    }
}
