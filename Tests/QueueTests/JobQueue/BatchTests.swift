import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Batches") struct BatchTests {
    private func completions(_ q: QueueFixture) async throws -> [JobEvent.BatchCompleted] {
        try await q.events().compactMap {
            if case .batchCompleted(let data) = $0.data { data } else { nil }
        }
    }

    @Test(arguments: ["before", "between", "after"])
    func `a batch is complete when it is sealed and all its jobs have ended, and says so once`(
        sealed: String
    ) async throws {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 0, sealed: sealed == "before" ? 3 : nil)
        _ = try await q.queue.admit()
        try await q.add(0..<2, to: batch)
        _ = try await q.queue.admit()
        if sealed == "between" { try await q.queue.seal(batch, jobs: 3) }
        try await q.add(2..<3, to: batch)
        _ = try await q.queue.admit()
        for _ in 0..<3 {
            #expect(try await completions(q).isEmpty)
            try await q.finish(try await q.claim())
        }
        if sealed == "after" {
            #expect(try await completions(q).isEmpty)
            try await q.queue.seal(batch, jobs: 3)
            _ = try await q.queue.admit()
        }
        let all = try await completions(q)
        #expect(all.count == 1)
        #expect(all.first?.completed == 3)
        try await q.expectHealthy()
    }

    /// The marks of ended members are one value, of 1.25 MB then. All but the last members are prepared as ended.
    @Test
    func `a batch of as many jobs as the contract allows ends, on a server with our settings`()
        async throws
    {
        let server = try await RedisServer.start(arguments: ["--proto-max-bulk-len", "2mb"])
        let q = try await QueueFixture(on: server)
        let all = ContractLimits.batchJobsMax
        let ended = all - 3
        let batch = try await q.open("b", members: 0)
        _ = try await q.queue.admit()
        for (field, value) in [("admitted", "\(ended)"), ("done", "\(ended)")] {
            try await q.setField(field, of: "batch:b", value)
        }
        _ = try await q.redis.send([
            "EVAL",
            "return redis.call('SET', KEYS[1], string.rep('\\255', ARGV[1]) .. '\\248')", "1",
            RedisArgument(q.queue.name.keys.prefix + "batch:b:ended"), RedisArgument(ended / 8),
        ])
        let lane = RedisArgument(q.queue.name.keys.prefix + "lane:b")
        for number in ended..<all {
            _ = try await q.redis.send(["XADD", lane, "*", "asset", RedisArgument("b/\(number)")])
        }
        try await q.queue.seal(batch, jobs: all)
        _ = try await q.queue.admit()
        let claims = try await q.claim(3)
        #expect(claims.map(\.job) == (ended..<all).map { "b:\($0)" })
        try await q.expectHealthy()
        for claim in claims { try await q.finish(claim) }
        #expect(try await completions(q).map(\.completed) == [all])
        try await q.expectHealthy()
        server.stop()
    }

    @Test func `a lane is fed in windows, and its jobs run in its order`() async throws {
        var settings = QueueSettings()
        settings.window = 10
        let q = try await QueueFixture(settings: settings)
        try await q.open("b", members: 95, sealed: 95)
        var done: [String] = []
        while done.count < 95 {
            _ = try await q.queue.admit()
            let status = try await q.queue.status()
            #expect(status[.ready] + status[.active] <= 10)
            #expect(status[.lane] == 95 - done.count - status[.ready])
            let claims = try await q.claim(7)
            try #require(!claims.isEmpty)
            for claim in claims {
                try await q.finish(claim)
                done.append(claim.job)
            }
        }
        #expect(done == (0..<95).map { "b:\($0)" })
        #expect(try await completions(q).count == 1)
        try await q.expectHealthy()
    }

    @Test func `members that were cancelled in the lane make no room beyond a batch's cap`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.open("b", members: 20, sealed: 20, cap: 2)
        _ = try await q.queue.admit()
        let far = (10..<16).map { "b:\($0)" }
        #expect(try await q.queue.cancel(far, reason: "no") == far.map { _ in .cancelled })
        var done: [String] = []
        while try await completions(q).isEmpty {
            let admitted = try await q.queue.admit().admitted
            let ready = try await q.queue.status()[.ready]
            try #require(admitted + ready > 0)
            let claims = try await q.claim(9)
            #expect(claims.count <= 2)
            try await q.expectHealthy()
            for claim in claims {
                try await q.finish(claim)
                done.append(claim.job)
            }
            try #require(done.count <= 14)
        }
        #expect(done == ((0..<10).map { "b:\($0)" } + (16..<20).map { "b:\($0)" }))
        let completed = try #require(try await completions(q).first)
        #expect(completed.completed == 14)
        #expect(completed.cancelled == 6)
    }

    @Test func `a batch sealed twice at the same number is sealed once, and at another told of`()
        async throws
    {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 2, sealed: 2)
        try await q.queue.seal(batch, jobs: 2)
        let entry = try await q.queue.seal(batch, jobs: 3)
        _ = try await q.queue.admit()
        let event = try #require(try await q.events().first)
        guard case .batchConflict(let conflict) = event.data else {
            Issue.record("\(event)"); return
        }
        #expect(conflict.entry == entry)
        #expect(conflict.message.contains("sealed at 2"))
        #expect(try await q.events().count == 1)
        #expect(try await q.field("sealed", of: "batch:b") == "2")
    }

    @Test func `a batch is not sealed at fewer jobs than it has`() async throws {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 5, sealed: 3)
        _ = try await q.queue.admit()
        let event = try #require(try await q.events().first)
        guard case .batchConflict(let conflict) = event.data else {
            Issue.record("\(event)"); return
        }
        #expect(conflict.message.contains("given 5 jobs already"))
        try await q.queue.seal(batch, jobs: 5)
        try await q.runToTheEnd()
        #expect(try await completions(q).first?.completed == 5)
    }

    @Test func `what is added beyond the seal is never a job, and the doctor says so`() async throws
    {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 2, sealed: 2)
        _ = try await q.queue.admit()
        #expect(
            try await q.queue.add(
                [.init(asset: AssetPath("x")), .init(asset: AssetPath("y"))], to: batch, from: 1)
                == .sealed(at: 2))
        for asset in ["x", "y"] { try await q.addToBatchStream(of: "b", ["asset": asset]) }
        try await q.runToTheEnd()
        #expect(try await completions(q).map(\.completed) == [2])
        #expect(try await q.state(of: "b:2") == nil)
        #expect(try await q.queue.cancel(["b:2"], reason: "no") == [.unknown])
        let diagnosis = try await q.queue.diagnose()
        #expect(diagnosis.isHealthy)
        #expect(
            diagnosis.warnings.contains { $0.contains("batch b has 2 entries that will never") })
    }

    @Test func `a batch that has fewer jobs than it was sealed at waits, and ends when cancelled`()
        async throws
    {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 2, sealed: 5)
        try await q.runToTheEnd()
        #expect(try await completions(q).isEmpty)
        #expect(try await q.queue.cancel(batch, reason: "enough").0 == .cancelled)
        let end = try #require(try await completions(q).first)
        #expect(end.completed == 2)
        #expect(end.cancelled == 0)
        try await q.expectHealthy()
    }

    @Test func `members sent again after a lost reply are not there twice`() async throws {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 5)
        try await q.add(3..<8, to: batch)
        _ = try await q.queue.admit()
        try await q.add(0..<8, to: batch)
        _ = try await q.queue.admit()
        #expect(try await q.queue.status()[.ready] == 8)
    }

    @Test func `a replayed member opens its batch again, which ends once more`() async throws {
        let q = try await QueueFixture()
        try await q.open("b", members: 3, sealed: 3)
        _ = try await q.queue.admit()
        for claim in try await q.claim(3) {
            if claim.job == "b:1" { try await q.bury(claim) } else { try await q.finish(claim) }
        }
        #expect(try await completions(q).map(\.failed) == [1])
        #expect(try await q.queue.replay(["b:1"]) == [.replayed])
        try await q.expectHealthy()
        try await q.finish(try await q.claim())
        let both = try await completions(q)
        #expect(both.map(\.generation) == [1, 2])
        #expect(both.last?.completed == 3)
        #expect(both.last?.failed == 0)
        try await q.expectHealthy()
    }

    @Test func `what a batch's ended jobs cost counts a replayed one once`() async throws {
        let q = try await QueueFixture()
        let batch = try BatchID("b")
        try await q.queue.open(BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.add(
            [.init(asset: try AssetPath("x"), cost: 700)], to: batch, from: 0)
        try await q.queue.seal(batch, jobs: 1)
        _ = try await q.queue.admit()
        try await q.bury(try await q.claim())
        #expect(try await q.field("costEnded", of: "batch:b") == "700")
        _ = try await q.queue.replay(["b:0"])
        #expect(try await q.field("costEnded", of: "batch:b") == "0")
        try await q.finish(try await q.claim())
        #expect(try await q.field("costEnded", of: "batch:b") == "700")
    }

    @Test func `a batch can be cancelled again after a replay, and ends after its last job`()
        async throws
    {
        var settings = QueueSettings()
        settings.window = 3
        let q = try await QueueFixture(settings: settings)
        let batch = try await q.open("b", members: 20, sealed: 20)
        _ = try await q.queue.admit()
        #expect(try await q.queue.cancel(["b:7"], reason: "no") == [.cancelled])
        for claim in try await q.claim(3) { try await q.bury(claim) }
        _ = try await q.queue.cancel(batch, reason: "first")
        #expect(try await completions(q).map(\.cancelled) == [17])
        try await q.expectHealthy()

        #expect(try await q.queue.replay(["b:0", "b:1"]) == [.replayed, .replayed])
        let held = try await q.claim()
        #expect(held.job == "b:0")
        #expect(try await q.queue.cancel(batch, reason: "second") == (.cancelled, open: 1))
        #expect(try await completions(q).count == 1, "a worker holds a job of it")
        try await q.expectHealthy()
        #expect(try await q.queue.commit(held, q.event(held), isDraft: false) == .cancelled)
        #expect(try await q.queue.concludeCancelled(held) == .held)
        let last = try #require(try await completions(q).last)
        #expect(last.generation == 2)
        #expect(last.cancelled == 19)
        #expect(last.failed == 1)
        try await q.expectHealthy()
    }

    @Test func `a batch that was dropped long ago keeps what its dead jobs need to be replayed`()
        async throws
    {
        var settings = QueueSettings()
        settings.keepDone = .zero
        let q = try await QueueFixture(settings: settings)
        try await q.open("b", members: 2, sealed: 2)
        try await q.open("c", members: 1, sealed: 1)
        _ = try await q.queue.admit()
        for claim in try await q.claim(3) {
            if claim.job == "b:0" { try await q.bury(claim) } else { try await q.finish(claim) }
        }
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.field("tenant", of: "batch:c") == nil)
        try await q.expectHealthy()
        #expect(try await q.queue.replay(["b:0"]) == [.replayed])
        let claim = try await q.claim()
        let edit = try Edit(json: QueueFixture.recipe)
        #expect(claim.edit == edit.json.canonical)
        try await q.finish(claim)
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.field("tenant", of: "batch:b") == nil)
        try await q.expectHealthy()
    }

    @Test func `wrong entries of a lane die, are counted, and are kept in bounded number`()
        async throws
    {
        var settings = QueueSettings()
        settings.malformedMax = 10
        let q = try await QueueFixture(settings: settings)
        let batch = try await q.open("b", members: 0, sealed: 41)
        let stream = RedisArgument(q.queue.name.keys.batchStream(batch.string))
        for number in 1...40 {
            _ = try await q.redis.send([
                "XADD", stream, RedisArgument("1-\(number)"), "colour", "red",
            ])
        }
        try await q.add(40..<41, to: batch)
        try await q.runToTheEnd()
        let end = try #require(try await completions(q).first)
        #expect(end.failed == 40)
        #expect(end.completed == 1)
        #expect(try await q.queue.status()[.dead] == 10)
        try await q.expectHealthy()
    }

    @Test func `a bitmap and counts that differ, and members that are lost, are told`() async throws
    {
        let q = try await QueueFixture()
        try await q.open("b", members: 4, sealed: 4)
        _ = try await q.queue.admit()
        try await q.finish(try await q.claim())
        try await q.harm(["HINCRBY batch:b done 1", "DEL job:b:3"])
        let found = try await q.queue.diagnose(repair: true).open.map(\.kind)
        #expect(found.contains(.batchMiscounted))
        #expect(found.contains(.memberLost))
    }

    @Test(arguments: [
        ("HSET batch:b holes 4", Finding.Kind.batchHolesMiscounted),
        ("ZREM batches b", .batchUnlisted), ("ZREM lanes b", .batchUnlisted),
        ("ZADD batches:ended 1 b", .inWrongPlace), ("ZADD lanes 1 ghost", .memberWithoutRecord),
        ("ZADD batches 1 ghost", .memberWithoutRecord),
        ("SET batch:ghost:edit x", .partWithoutRecord),
        ("SETBIT batch:ghost:ended 3 1", .partWithoutRecord),
    ])
    func `what is wrong with a batch is mended, and it is complete once`(
        command: String, kind: Finding.Kind
    ) async throws {
        var settings = QueueSettings()
        settings.window = 2
        let q = try await QueueFixture(settings: settings)
        try await q.open("b", members: 4, sealed: 4)
        _ = try await q.queue.admit()
        try await q.expectHealthy()
        try await q.harm([command])
        #expect(try await q.queue.diagnose().open.map(\.kind) == [kind])
        #expect(try await q.queue.diagnose(repair: true).open == [])
        try await q.runToTheEnd()
        #expect(try await completions(q).map(\.completed) == [4])
        try await q.expectHealthy()
    }

    @Test func `ended members that nobody counted are counted, and the batch is complete`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.open("b", members: 3, sealed: 3)
        _ = try await q.queue.admit()
        for claim in try await q.claim(3) {
            if claim.job == "b:1" { try await q.bury(claim) } else { try await q.finish(claim) }
        }
        try await q.harm([
            "SETBIT batch:b:ended 1 0", "SETBIT batch:b:ended 2 0", "HSET batch:b done 1 dead 0",
            "HSET batch:b finished 0", "ZREM batches:ended b",
        ])
        let diagnosis = try await q.queue.diagnose(repair: true)
        #expect(diagnosis.open == [])
        #expect(diagnosis.mended.count { $0.kind == .memberUncounted } == 2)
        #expect(try await q.field("done", of: "batch:b") == "2")
        #expect(try await q.field("dead", of: "batch:b") == "1")
        #expect(Set(try await completions(q).map(\.generation)) == [1])
    }
}
