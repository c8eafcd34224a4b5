import Edits
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Hostile input") struct HostileInputTests {
    private func send(_ q: QueueFixture, _ key: String, _ words: [RedisArgument]) async throws {
        _ = try await q.redis.send(["XADD", RedisArgument(key)] + words)
    }

    @Test
    func `a field of 2 MB, the most that Redis takes, dies with its size and holds nobody up`()
        async throws
    {
        let q = try await QueueFixture()
        let huge = RedisArgument([UInt8](repeating: 0x78, count: 2_000_000))
        // Our own client sends nothing so large; a producer of another make may.
        var configuration = RedisConfiguration(url: try RedisURL(q.server.url))
        configuration.commandBytesMax = 32 << 20
        let producer = RedisClient(configuration, logger: Logger(label: "test"))
        _ = try await producer.send([
            "XADD", RedisArgument(q.queue.name.keys.ingress), "*", "id", "huge", "asset", "a",
            "edit",
            huge,
        ])
        await producer.close()
        try await q.admit("next")
        while try await q.queue.admit().admitted > 0 {}
        let dead = try #require(try await q.queue.record(of: "huge"))
        #expect(dead.code == .oversizedField)
        #expect(dead.message?.contains("edit has 2000000 bytes") == true)
        #expect(try await q.claim().job == "next")
        try await q.expectHealthy()
    }

    @Test func `heavy entries of a lane are read few at a time`() async throws {
        var settings = QueueSettings()
        settings.admitBytesMax = 4 << 20
        let q = try await QueueFixture(settings: settings)
        let batch = try await q.open("b", members: 0, sealed: 6)
        let heavy = RedisArgument([UInt8](repeating: 0x78, count: 2 << 20))
        for _ in 0..<6 {
            try await send(
                q, q.queue.name.keys.batchStream(batch.string), ["*", "asset", "a", "edit", heavy])
        }
        #expect(
            try await q.queue.admit().admitted == 2 + 1,
            "the batch, its seal, and one or two members")
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.queue.status()[.dead] == 6)
        #expect(try await q.events().last?.name == "completed")
        try await q.expectHealthy()
    }

    @Test(arguments: ["a b", "a\0b", "ä", "a:0", "../a", "a\n", "-a", ""])
    func `an id with what ids may not have dies with the id in the sentence`(id: String)
        async throws
    {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["id": id, "asset": "a", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let dead = try #require(try await q.queue.record(of: entry))
        #expect(dead.code == .invalidValue)
        let shown = String(
            decoding: id.utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self)
        #expect(dead.message?.hasPrefix("id \"\(shown)\" is not allowed") == true, "\(dead)")
        try await q.expectHealthy()
    }

    @Test func `an asset with spaces, quotes and backslashes is a job like any other`() async throws
    {
        let q = try await QueueFixture()
        let asset = "a b\"c\\d%{e}[f].jpg"
        try await q.xadd(["id": "1", "asset": asset, "edit": QueueFixture.recipe])
        try await q.xadd(["id": "2", "asset": asset, "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        #expect(claim.asset == asset)
        try await q.expectHealthy()
        try await q.bury(claim)
        #expect(try await q.events().first?.subject == asset)
        #expect(try await q.claim().job == "2")
    }

    @Test func `a thousand wrong entries do not stall the right one behind them`() async throws {
        var settings = QueueSettings()
        settings.malformedMax = 50
        let q = try await QueueFixture(settings: settings)
        let key = RedisArgument(q.queue.name.keys.ingress)
        let wrong: [[RedisArgument]] = (0..<1000).map { number in
            switch number % 5 {
            case 0: ["XADD", key, "*", "colour", "red"]
            case 1: ["XADD", key, "*", "asset", RedisArgument([0xFF, 0, 0x80]), "edit", "{}"]
            case 2: ["XADD", key, "*", "batch", "b b", "seal", "1"]
            case 3: ["XADD", key, "*", "batch", "nobody", "seal", "1"]
            default: ["XADD", key, "*", "asset", "a", "edit", "{}", "cost", "-1"]
            }
        }
        for result in await q.redis.sendAll(wrong) { _ = try result.get() }
        try await q.admit("right")
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.claim().job == "right")
        let status = try await q.queue.status()
        #expect(status.counters["failed"] == 1000)
        #expect(status[.dead] == 50)
        try await q.expectHealthy()
    }

    @Test(arguments: ["1-18446744073709551614", "9007199254740993-9007199254740993"])
    func `an entry under any id that Redis takes is taken once`(id: String) async throws {
        let q = try await QueueFixture()
        let words: [RedisArgument] = ["asset", "a", "edit", RedisArgument(QueueFixture.recipe)]
        try await send(q, q.queue.name.keys.ingress, [RedisArgument(id)] + words)
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await q.queue.admit().admitted == 0)
        #expect(try await q.claim().job == id)
        try await q.expectHealthy()
    }

    @Test func `an entry whose id is another job's name does not take that job's place`()
        async throws
    {
        let q = try await QueueFixture()
        let id = "9999999999999-0"
        try await q.xadd(["id": id, "asset": "a", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        try await send(
            q, q.queue.name.keys.ingress,
            [RedisArgument(id), "asset", "b", "edit", RedisArgument(QueueFixture.recipe)])
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: id)?.asset == "a")
        // The id is that of the year 2286: the stream is renewed, too.
        #expect(try await q.events().map(\.name) == ["conflict", "harmed"])
        try await q.expectHealthy()
    }

    @Test func `what was sent wrong can be sent right under the same id`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["id": "a", "asset": "x"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.replay(["a"]) == [.malformed])
        try await q.xadd(["id": "a", "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        #expect(claim.job == "a")
        #expect(claim.generation == 2, "its events are others")
        #expect(try await q.queue.status()[.dead] == 0)
        try await q.finish(claim)
        try await q.expectHealthy()
    }

    @Test func `a job whose record is gone stops neither claims nor the search for lost leases`()
        async throws
    {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a", "b", "c", "d")
        _ = try await q.queue.claim(by: "w", count: 2)
        try await q.harm(["DEL job:a", "DEL job:c", "ZADD delayed 1 ghost", "ZADD lanes 0 ghost"])
        #expect(try await q.queue.reap(by: "w").ready == 1)
        #expect(try await q.queue.promote() == 1, "the ghost")
        #expect(try await q.queue.admit().admitted == 0)
        let jobs = try await q.queue.claim(by: "w", count: 4).jobs
        #expect(jobs.map(\.job).sorted() == ["b", "d"])
    }

    @Test func `names of done jobs are remembered beyond their records, and not for ever`()
        async throws
    {
        var settings = QueueSettings()
        settings.doneRecordsMax = 1
        settings.seenMax = 8
        let q = try await QueueFixture(settings: settings)
        for number in 0..<20 {
            try await q.admit("job-\(number)")
            try await q.finish(try await q.claim())
            _ = try await q.queue.reap(by: "w")
        }
        // The last ones have no record any more, and are known all the same.
        #expect(try await q.queue.record(of: "job-16") == nil)
        try await q.admit("job-16", "job-17", "job-19")
        #expect(try await q.claim(3).isEmpty)
        try await q.admit("job-0")
        #expect(try await q.claim().job == "job-0")
        try await q.expectHealthy()
    }
}
