import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// Scripts that work on several jobs in one call.
@Suite("A damaged record among others") struct DamagedRecordTests {
    /// Jobs `a`, `b`, `c` of assets of their own; the record of `b` lacks fields.
    private func harm(_ q: QueueFixture, _ fields: String) async throws {
        try await q.harm(["HDEL job:b \(fields)"])
    }

    private func sums(_ q: QueueFixture) async throws -> [String] {
        try await QueueSums.wrong(q)
    }

    @Test(arguments: ["asset", "sequence", "arrival enqueued"])
    func `is made dead with a reason when it would be claimed, and the others are given`(
        fields: String
    ) async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c")
        try await harm(q, fields)
        #expect(try await q.queue.claim(by: "w", count: 3).jobs.map(\.job) == ["a", "c"])
        #expect(try await q.state(of: "b") == "dead")
        let record = try await q.queue.record(of: "b")
        #expect(record?.code == .internalError)
        #expect(record?.message?.contains("job b") == true, "\(String(describing: record))")
        #expect(try await q.events().map(\.name) == ["failed"])
        #expect(try await sums(q) == [])
    }

    @Test func `is told when jobs are replayed, and the others are replayed`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c")
        for _ in 0..<3 {
            let claim = try await q.claim()
            _ = try await q.queue.run(
                QueueScript.fail, claim.job, claim.fence, "attempts", "dead", "", "x", "m", "{}",
                "{}")
        }
        try await harm(q, "asset")
        #expect(
            try await q.queue.replay(["a", "b", "c"]) == [.replayed, .damaged, .replayed])
        #expect(try await q.state(of: "b") == "dead")
        #expect(try await sums(q) == [])
    }

    @Test func `is told when jobs are cancelled, and the others are cancelled`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c")
        try await harm(q, "asset")
        let answers = try await q.queue.cancel(["a", "b", "c"], reason: "r")
        #expect(answers == [.cancelled, .damaged, .cancelled])
        #expect(try await sums(q) == [])
    }

    @Test func `does not keep those from being promoted that are due`() async throws {
        let q = try await QueueFixture()
        for id in ["a", "b", "c"] {
            try await q.xadd([
                "id": id, "asset": id, "edit": QueueFixture.recipe,
                "notBefore": "2999-01-01T00:00:00Z",
            ])
        }
        _ = try await q.queue.admit()
        try await harm(q, "asset")
        try await q.harm(["ZADD delayed 1 a 1 b 1 c"])
        #expect(try await q.queue.promote() == 2)
        #expect(try await q.queue.claim(by: "w", count: 3).jobs.map(\.job) == ["a", "c"])
        #expect(try await q.state(of: "b") == "delayed")
    }

    @Test func `does not keep the leases of other jobs from being renewed`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c")
        let claims = try await q.queue.claim(by: "a", count: 3).jobs
        try await harm(q, "asset")
        try await q.harm(["HSET job:b tenthTold none"])
        let answers = try await q.queue.beat(
            claims.map {
                Beat(
                    hold: $0.hold, stage: "rendering",
                    progress: JobProgress(framesDone: 5, frames: 10))
            },
            by: QueueFixture.worker)
        #expect(answers.replies == [.held, .held, .held])
    }

    @Test(arguments: ["HDEL batch:b opened", "HSET batch:b done x"])
    func `of a batch loses the sums of no other job that ends in the same call`(
        harm: String
    ) async throws {
        let q = try await QueueFixture()
        let batch = BatchRequest(id: try BatchID("b"), edit: try Edit(json: QueueFixture.recipe))
        _ = try await q.queue.submit(batch, folder: nil, backlogMax: 9)
        _ = try await q.queue.add(
            [JobQueue.Member(asset: try AssetPath("m"))], to: batch.id, from: 0)
        _ = try await q.queue.feed()
        try await q.admit("a")
        let claims = try await q.queue.claim(by: "w", count: 2).jobs
        for claim in claims { _ = try await q.queue.commit(claim, q.event(claim), isDraft: false) }
        try await q.harm([harm])
        _ = try await q.queue.run(
            QueueScript.finalize, claims.flatMap { [$0.job, $0.fence] })
        let key = RedisArgument(q.queue.name.keys.prefix + "running")
        #expect(try await q.redis.send(["HGETALL", key]).array == [])
        #expect(try await q.queue.status().counters["completed"] == 2)
    }

    @Test func `of another type keeps no lease from being renewed, and no worker from being known`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        let claims = try await q.queue.claim(by: "a", count: 2).jobs
        try await q.harm(["DEL job:a", "SET job:a x"])
        let answers = try await q.queue.beat(
            claims.map { Beat(hold: $0.hold) }, by: QueueFixture.worker)
        #expect(answers.replies == [.fenced, .held])
        #expect(try await q.queue.workers().map(\.name) == ["a"])
    }

    @Test
    func `that is the oldest done one does not stop those whose worker died from being found`()
        async throws
    {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("done")
        try await q.finish(q.claim())
        try await q.admit("a")
        _ = try await q.claim()
        try await q.harm(["DEL job:done", "SET job:done x"])
        try await q.passMillisecond()
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.state(of: "a") == "ready")
    }

    @Test func `of a tenant's flow keeps no other tenant's jobs from being claimed`() async throws {
        let q = try await QueueFixture()
        for id in ["a", "b"] {
            try await q.xadd([
                "id": id, "asset": id, "edit": QueueFixture.recipe, "tenant": id,
            ])
        }
        _ = try await q.queue.admit()
        try await q.harm(["DEL ready:normal:a", "SET ready:normal:a x"])
        #expect(try await q.queue.status()[.ready] == 1)
        #expect(try await q.queue.facts(of: "b").reason.code == "noWorker")
        #expect(try await q.queue.claim(by: "w", count: 2).jobs.map(\.job) == ["b"])
    }

    @Test func `of a worker takes no other worker away, nor what the queue tells`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        for worker in ["good", "odd"] { try await q.hear(worker) }
        // As a release sends it that has renamed a field.
        try await q.setField("odd", of: "workers:info", #"{"name":"odd"}"#)
        try await q.setField("nobody", of: "workers:info", "{")
        let fleet = try await q.queue.fleet()
        #expect(fleet.living.map(\.name) == ["good", "odd"])
        #expect(fleet.silent == [SilentWorker(name: "nobody", since: nil)])
        #expect(try await q.queue.status().workers.count == 2)
        #expect(try await q.queue.facts(of: "a").reason.code == "freeSlot")
        let odd = "the report of worker odd cannot be read"
        let found = try await q.queue.diagnose()
        #expect(found.open.map(\.subject) == ["nobody"])
        #expect(found.warnings.contains { $0.hasPrefix(odd) }, "\(found.warnings)")
        #expect(try await q.queue.diagnose(repair: true).isHealthy)
        #expect(try await q.field("nobody", of: "workers:info") == nil)
        try await q.hear("odd")
        #expect(try await !q.queue.diagnose().warnings.contains { $0.hasPrefix(odd) })
    }

    @Test func `of another type is left out of lists, and no other is`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c", "d")
        #expect(try await q.queue.claim(by: "w", count: 2).jobs.map(\.job) == ["a", "b"])
        for _ in 0..<2 { try await q.bury(try await q.claim()) }
        for batch in ["x", "y"] { try await q.xadd(["batch": batch, "edit": QueueFixture.recipe]) }
        _ = try await q.queue.admit()
        for key in ["job:a", "job:c", "batch:x"] {
            try await q.harm(["DEL \(key)", "SET \(key) text"])
        }
        #expect(try await q.queue.status().held.map(\.job) == ["b"])
        #expect(try await q.queue.dead(offset: 0, count: 9).map(\.job) == ["d"])
        var reader = try await DeadReader(q.queue, DeadFilter(.everything))
        #expect(try await reader.next()?.map(\.job) == ["d"])
        #expect(try await q.queue.spilled(["c", "d"]).map(\.job) == ["d"])
        #expect(try await q.queue.batches(count: 9).records.map(\.batch) == ["y"])
        let found = try await q.queue.diagnose().open
        for subject in ["a", "c", "x"] {
            #expect(found.contains { $0.subject == subject && $0.kind == .recordIncomplete })
        }
    }

    @Test func `with a name that is no text takes no other field away`() {
        let reply = RedisReply.array(
            [
                .bulk([0xFF]), .bulk(Array("1".utf8)), .bulk(Array("worker".utf8)),
                .bulk(Array("{}".utf8)),
            ])
        #expect(reply.pairs == ["\u{FFFD}": "1", "worker": "{}"])
        #expect(RedisReply.array([.integer(1), .integer(2)]).pairs == nil)
    }

    @Test func `of a failure takes no other failure of its job away`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        _ = try await q.queue.fail(
            try await q.claim(), by: "w", Failure(.ioFailure, "disk"), random: 1)
        try await q.harm([
            "LPUSH attempts:a {",
            #"LPUSH attempts:a {"at":"2026-11-29T10:00:00Z","code":"ofLater","message":"m","fence":"1","worker":"w"}"#,
        ])
        let attempts = try await q.queue.attempts(of: "a")
        try #require(attempts.map(\.code) == [.internalError, .internalError, .ioFailure])
        #expect(attempts[0].at == "2026-11-29T10:00:00Z" && attempts[0].worker == "w")
        #expect(attempts[0].message.hasPrefix("ofLater: m: "), "\(attempts[0].message)")
        #expect(attempts[1].message.contains("not valid JSON"), "\(attempts[1].message)")
    }

    @Test(arguments: ["attempts x", "attempts 1.5", "crashes x", "sequence x"])
    func `that a worker holds is made dead when its attempt fails, and holds nothing`(
        field: String
    ) async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        try await q.harm(["HSET job:a \(field)"])
        let answer = try await q.queue.run(
            QueueScript.fail, claim.job, claim.fence, "attempts", "dead", "", "x", "m", "{}", "{}")
        #expect(answer.string == "GONE")
        #expect(try await q.state(of: "a") == "dead")
        #expect(try await q.field("default", of: "running") == nil)
        #expect(try await sums(q) == [])
    }

    @Test func `whose lease is over is made dead when it would be queued again`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a", "b")
        _ = try await q.queue.claim(by: "a", count: 2)
        try await q.harm(["HSET job:a crashes x"])
        try await q.passMillisecond()
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.state(of: "a") == "dead")
        #expect(try await q.state(of: "b") == "ready")
        #expect(try await sums(q) == [])
    }

    @Test func `that is parked does not keep the job ahead of it from ending, and is made dead`()
        async throws
    {
        let q = try await QueueFixture()
        for id in ["a", "b", "c"] {
            try await q.xadd(["id": id, "asset": "p.jpg", "edit": QueueFixture.recipe])
        }
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        try await harm(q, "sequence")
        try await q.finish(claim)
        #expect(try await q.state(of: "a") == "done")
        _ = try await q.queue.claim(by: "w", count: 1)
        _ = try await q.queue.claim(by: "w", count: 1)
        #expect(try await q.state(of: "b") == "dead")
        #expect(try await q.state(of: "c") == "active")
    }

    @Test func `that is parked and lacks its asset runs when the asset is free`() async throws {
        let q = try await QueueFixture()
        for id in ["a", "b"] {
            try await q.xadd(["id": id, "asset": "p.jpg", "edit": QueueFixture.recipe])
        }
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        try await harm(q, "asset")
        try await q.finish(claim)
        #expect(try await q.claim().asset == "p.jpg")
    }

    @Test func `of another type keeps no other member of a batch from being cancelled`()
        async throws
    {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 3)
        while try await q.queue.admit().admitted > 0 {}
        _ = try await q.queue.feed()
        try await q.harm(["DEL job:b:1", "SET job:b:1 x"])
        _ = try await q.queue.cancel(batch, reason: "r")
        #expect(try await q.state(of: "b:0") == "done")
        #expect(try await q.state(of: "b:2") == "done")
    }
}
