import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// While a script runs, Redis does nothing else. What bounds it is counted in commands, since time is the machine's.
@Suite("Bounds of scripts") struct BoundTests {
    private func world(
        _ change: (inout QueueSettings) -> Void = { _ in }
    ) async throws -> LargeWorld {
        var settings = QueueSettings()
        change(&settings)
        return try await LargeWorld(
            QueueFixture(on: try await RedisServer.start(), settings: settings))
    }

    private func expectBound(_ what: String, _ count: Int) {
        #expect(count <= LargeWorld.commandsMax, "\(what): \(count) commands")
    }

    @Test func `with 100,000 tenants at a cap that changes no call takes long`() async throws {
        let world = try await world()
        let q = world.q
        try await world.addTenants(100_000)
        let lowered = try await world.commands("configure cap 0") {
            try await q.queue.set([.cap(nil, 0)])
        }
        expectBound("configure", lowered.count)
        var calls = 0
        while true {
            let claim = try await world.commands("claim at the cap") {
                try await q.queue.claim(by: "w", count: 16)
            }
            expectBound("claim", claim.count)
            calls += 1
            #expect(claim.result.jobs.isEmpty)
            if !claim.result.hasMore || calls == 5 { break }
        }
        #expect(calls == 5)
        while try await q.queue.claim(by: "w", count: 16).hasMore {}
        #expect(try await q.redis.send(["HLEN", key(q, "capped")]).int == 100_000)

        let raised = try await world.commands("configure without a cap") {
            try await q.queue.set([.cap(nil, nil)])
        }
        expectBound("configure", raised.count)
        let claim = try await world.commands("claim after it") {
            try await q.queue.claim(by: "w", count: 16)
        }
        expectBound("claim", claim.count)
        #expect(claim.result.jobs.count == 16)
        // Claims look at all others anew, also those that give nothing.
        while try await q.redis.send(["HEXISTS", key(q, "virtual"), "recheck"]).int == 1 {
            _ = try await q.queue.claim(by: "w", count: 1)
        }
        #expect(try await q.redis.send(["HLEN", key(q, "capped")]).int == 0)
    }

    @Test func `what looks at a large queue looks page by page`() async throws {
        // None of its workers beats, and all of them live.
        let world = try await world { $0.lease = .seconds(600) }
        let q = world.q
        try await world.addTenants(100_000)
        try await world.addBatches(10_000)
        try await world.addWorkers(1000)
        for positions in [["0", "0", "0", "0", "0", "0"], ["-", "99000", "-", "-", "0", "9000"]] {
            let census = try await world.commands("census") {
                try await q.queue.run(
                    QueueScript.census,
                    [RedisArgument(JobQueue.censusStep)] + positions.map { RedisArgument($0) })
            }
            expectBound("census", census.count)
        }
        let status = try await q.queue.status()
        #expect(status.flows.count == QueueStatus.flowsMax && status[.lane] == 10_000)
        // A decision counts the jobs of tenants that are not listed, and all open batches.
        _ = try await q.redis.send(["HSET", key(q, "virtual"), "aheadJobs", "100000"])
        let work = try await q.queue.waitingWork(status, within: .seconds(600))
        #expect(work.parts.reduce(0) { $0 + $1.jobs } == 110_000)
        let explain = try await world.commands("explain") {
            try await q.queue.facts(of: "job99999")
        }
        expectBound("explain", explain.count)
        #expect(explain.result.number("slots") == 2000)
    }

    @Test func `what ends many jobs at once ends a bounded number`() async throws {
        let world = try await world { $0.lease = .zero }
        let q = world.q
        try await world.addTenants(2000)
        _ = try await q.queue.claim(by: "w", count: 400)
        let reap = try await world.commands("reap of lost leases") {
            try await q.queue.reap(by: "w")
        }
        expectBound("reap", reap.count)
        #expect(reap.result.ready == q.queue.settings.reapMax)
        let cancel = try await world.commands("cancel") {
            try await q.queue.cancel((801...1000).map { "job\($0)" }, reason: "no")
        }
        expectBound("cancel", cancel.count)
        #expect(cancel.result.allSatisfy { $0 == .cancelled })
        let ids = (1001...1200).flatMap { ["job", "job\($0)"] }
        let inspect = try await world.commands("inspect") {
            try await q.queue.run(
                QueueScript.inspect.look, ["", "30000"] + ids.map { RedisArgument($0) })
        }
        expectBound("inspect", inspect.count)
        let claims = try await q.queue.claim(by: "w", count: WriteGatherer.jobsMax).jobs
        let commit = try await world.commands("commit") {
            try await q.queue.run(
                QueueScript.commit,
                claims.flatMap { [$0.job, $0.fence, "1-1", "completed", "{}", ""] })
        }
        expectBound("commit", commit.count)
        let finalize = try await world.commands("finalize") {
            try await q.queue.run(
                QueueScript.finalize, claims.map(\.hold))
        }
        expectBound("finalize", finalize.count)
        #expect(finalize.result.array?.allSatisfy { $0.string == "OK" } == true)
        var impatient = q.queue.settings
        impatient.keepDone = .zero
        let forgetful = JobQueue(name: q.queue.name, redis: q.redis, settings: impatient)
        let drop = try await world.commands("reap of old records") {
            try await forgetful.reap(by: "w")
        }
        expectBound("reap", drop.count)
    }

    @Test func `a thousand jobs that wait for one asset make nothing long`() async throws {
        let world = try await world()
        let q = world.q
        for number in 1...1000 {
            try await q.xadd(["asset": "a", "edit": QueueFixture.recipe, "id": "job\(number)"])
        }
        while try await q.queue.admit().admitted > 0 {}
        for number in 1001...1200 {
            try await q.xadd(["asset": "a", "edit": QueueFixture.recipe, "id": "job\(number)"])
        }
        let admit = try await world.commands("admit behind a thousand") {
            try await q.queue.admit()
        }
        expectBound("admit", admit.count)
        #expect(admit.result.admitted == 200)
        try await q.xadd([
            "asset": "a", "edit": QueueFixture.recipe, "priority": "interactive",
        ])
        let lift = try await world.commands("admit that lifts a thousand") {
            try await q.queue.admit()
        }
        expectBound("admit", lift.count)
        try await q.expectHealthy()
    }

    private func key(_ q: QueueFixture, _ name: String) -> RedisArgument {
        RedisArgument(q.queue.name.keys.prefix + name)
    }
}
