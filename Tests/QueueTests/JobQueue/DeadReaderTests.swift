import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Reading the dead") struct DeadReaderTests {
    private func read(_ q: QueueFixture, _ filter: DeadFilter = DeadFilter(.everything))
        async throws
        -> [String]
    {
        var reader = try await DeadReader(q.queue, filter)
        var jobs: [String] = []
        while let page = try await reader.next() { jobs += page.map(\.job) }
        return jobs
    }

    @Test func `every dead job is read once, however many died in one millisecond`() async throws {
        let q = try await QueueFixture()
        for number in 0..<950 {
            _ = try await q.redis.send([
                "ZADD", "\(q.queue.name.keys.prefix)dead", RedisArgument(1000 + number / 450),
                "j\(number)",
            ])
            _ = try await q.redis.send([
                "HSET", "\(q.queue.name.keys.prefix)job:j\(number)", "state", "dead",
            ])
        }
        let jobs = try await read(q)
        #expect(jobs.count == 950 && Set(jobs).count == 950)
    }

    @Test func `a job that died while the clock was ahead is read like others`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        for claim in try await q.claim(2) { try await q.bury(claim) }
        try await q.harm(["ZADD dead \(try await q.queue.now() + 3_600_000) b"])
        #expect(try await read(q) == ["a", "b"])
    }

    @Test func `jobs that are replayed between pages make none pass`() async throws {
        let q = try await QueueFixture()
        for number in 0..<900 {
            let id = "j\(number)"
            _ = try await q.redis.send([
                "ZADD", "\(q.queue.name.keys.prefix)dead", RedisArgument(1000 + number / 450),
                RedisArgument(id),
            ])
            _ = try await q.redis.send([
                "HSET", RedisArgument("\(q.queue.name.keys.prefix)job:\(id)"), "state", "dead",
                "asset", RedisArgument(id), "sequence", RedisArgument(number),
            ])
        }
        var reader = try await DeadReader(q.queue, DeadFilter(.everything))
        var count = 0
        while let page = try await reader.next() {
            // Every third stays.
            let some = page.enumerated().filter { $0.offset % 3 != 0 }.map(\.element.job)
            let answers = try await q.queue.replay(some)
            #expect(answers.allSatisfy { $0 == .replayed })
            count += page.count
        }
        #expect(count == 900)
    }

    @Test func `a filter means the jobs to which all of it applies`() async throws {
        let q = try await QueueFixture()
        for (id, tenant, code, edit) in [
            ("a", "acme", FailureCode.damagedPhoto, #"{"filters": [{"name": "CISepiaTone"}]}"#),
            ("b", "acme", .missingAsset, #"{"filters":[{"name":"CISepiaTone"}]}"#),
            ("c", "zeta", .missingAsset, #"{"filters":[{"name":"CIColorInvert"}]}"#),
        ] {
            try await q.xadd(["id": id, "asset": id, "tenant": tenant, "edit": edit])
            _ = try await q.queue.admit()
            _ = try await q.queue.fail(q.claim(), by: "a", Failure(code, "no"), random: 1)
        }
        #expect(try await read(q) == ["a", "b", "c"])
        var filter = DeadFilter(.everything)
        filter.tenant = try JobID("acme")
        #expect(try await read(q, filter) == ["a", "b"])
        filter.codes = [.missingAsset]
        #expect(try await read(q, filter) == ["b"])
        filter = DeadFilter(.everything)
        // However it was spelled.
        filter.edit = try Edit(json: #"{"filters":[{"name":"CISepiaTone"}]}"#).json.digest
        #expect(try await read(q, filter) == ["a", "b"])
        let died = try #require(try await q.queue.record(of: "b")?.ended)
        filter = DeadFilter(.everything)
        filter.since = died
        #expect(try await read(q, filter).contains("b"))
        filter.until = died - 1
        #expect(try await read(q, filter).isEmpty)
        filter = DeadFilter(.everything)
        filter.batch = try BatchID("none")
        #expect(try await read(q, filter).isEmpty)
    }

    @Test func `a replay of a live job says so and changes nothing`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        #expect(try await q.queue.replay(["a", "b"]) == [.notDead, .unknown])
        #expect(try await q.state(of: "a") == "ready")
    }
}
