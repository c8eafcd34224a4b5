import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Duties") struct DutyTests {
    @Test
    func `while Redis is full a duty is taken, lost leases are taken back and delayed jobs go on`()
        async throws
    {
        let server = try await RedisServer.start()
        let q = try await QueueFixture(on: server, settings: QueueFixture.expiredAtOnce)
        try await q.admit("lost", "retried")
        let claims = try await q.claim(2)
        try await q.confirm(claims[0])
        try await q.confirm(claims[1])
        let retried = try #require(claims.first { $0.job == "retried" })
        _ = try await q.queue.fail(retried, by: "w", Failure(.ioFailure, "no"), random: 0)
        try await server.command("CONFIG", "SET", "maxmemory", "1")
        for duty in Duty.allCases {
            #expect(try await q.queue.claim(duty, by: "w"))
            #expect(try await !q.queue.claim(duty, by: "other"))
        }
        let refusal = await #expect(throws: RedisError.self) { try await q.admit("new") }
        #expect(refusal?.serverError?.prefix == "OOM")
        #expect(try await q.queue.promote() == 1)
        #expect(try await q.queue.reap(by: "w").ready == 1)
        _ = try await q.queue.tend()
        #expect(try await q.queue.claim(by: "w", count: 2).jobs.count == 2)
        server.stop()
    }

    /// Nothing else would ever free memory: no job is there that could end.
    @Test func `a Redis that is full of entries and batches is drained, and says that it is full`()
        async throws
    {
        let server = try await RedisServer.start()
        var settings = QueueSettings()
        settings.waitingMaxWhileFull = 4
        let q = try await QueueFixture(on: server, settings: settings)
        let batch = try BatchID("b")
        try await q.queue.open(BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.admit()
        _ = try await q.queue.add(
            (0..<9).map { try .init(asset: AssetPath("m\($0)")) }, to: batch, from: 0)
        for number in 0..<3 {
            try await q.xadd([
                "id": "\(number)", "asset": "\(number)", "edit": .init(QueueFixture.recipe),
            ])
        }
        let used = try await q.queue.readMemory()
        try await server.command("CONFIG", "SET", "maxmemory", "\(used * 99 / 100)")
        let refusal = await #expect(throws: QueueError.self) { try await q.queue.admit() }
        #expect(refusal?.isRedisFull == true)
        let hold = try #require(try await q.queue.status().ingressHold)
        #expect(hold.entries == 3 && hold.memory == q.queue.memory.max)
        #expect(try await q.queue.diagnose().warnings.contains(hold.sentence))
        #expect(try await q.queue.facts(of: "2").hold == hold)
        #expect(hold.sentence.contains("Redis uses all of its maxmemory"))

        // Never more than may wait, and in the end each of them.
        var done = 0
        for _ in 0..<40 where done < 12 {
            _ = try await q.queue.admitWhileFull()
            let jobs = try await q.queue.status()
            #expect(jobs[.ready] <= settings.waitingMaxWhileFull + settings.waitingMaxWhileFull)
            for claim in try await q.queue.claim(by: "w", count: 8).jobs {
                try await q.finish(claim)
                done += 1
            }
        }
        #expect(done == 12)
        server.stop()
    }

    @Test func `one worker has it until it gives it up`() async throws {
        let q = try await QueueFixture()
        #expect(try await q.queue.claim(.admitting, by: "a"))
        #expect(try await !q.queue.claim(.admitting, by: "b"))
        #expect(try await q.queue.claim(.reaping, by: "b"))
        #expect(try await q.queue.claim(.admitting, by: "a"))
        try await q.queue.release(.admitting, by: "b")
        #expect(try await !q.queue.claim(.admitting, by: "b"))
        try await q.queue.release(.admitting, by: "a")
        #expect(try await q.queue.claim(.admitting, by: "b"))
    }

    @Test func `it ends by itself`() async throws {
        let q = try await QueueFixture()
        #expect(try await q.queue.claim(.admitting, by: "a"))
        let words = try #require(try await q.field("admitting", of: "duties")).split(separator: " ")
        let left = try #require(Int(words[0])) - (try await q.queue.now())
        #expect(left <= Duty.admitting.lease.milliseconds && words[1] == "a")
        // An end that has passed, and one that only a clock that was ahead can have given.
        for ends in [1, try await q.queue.now() + 3_600_000] {
            try await q.setField("admitting", of: "duties", "\(ends) a worker")
            #expect(try await q.queue.claim(.admitting, by: "b"))
        }
    }

    @Test func `whoever has it is called when a lane gets entries or room`() async throws {
        let q = try await QueueFixture()
        let client = try q.client()
        var position = "0"
        let batch = try BatchID("b")
        try await q.queue.open(
            BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.admit()
        _ = try await q.queue.add([.init(asset: AssetPath("x"))], to: batch, from: 0)
        try await q.queue.waitForEntries(
            atMost: .seconds(60), onlyUrgent: false, after: &position, on: client)
        #expect(position != "0")
    }

    @Test func `whoever has it looks again at once only for work that no stream announces`()
        async throws
    {
        var settings = QueueSettings()
        (settings.admitMax, settings.promotionsMax, settings.promotesMax) = (2, 1, 1)
        let q = try await QueueFixture(settings: settings)
        #expect(try await !q.queue.admit().mayHaveMore)

        // Single jobs: the entry that is left ends the wait.
        for asset in ["a", "b", "c"] {
            try await q.xadd(["asset": asset, "edit": QueueFixture.recipe])
        }
        let first = try await q.queue.admit()
        #expect(first.admitted == 2 && !first.mayHaveMore)
        let client = try q.client()
        var position = "0"
        try await q.queue.waitForEntries(
            atMost: .seconds(3600), onlyUrgent: first.isHeld, after: &position, on: client)
        let second = try await q.queue.admit()
        #expect(second.admitted == 1 && !second.mayHaveMore)

        // Delayed jobs, of which more are due than one call promotes.
        for id in ["d", "e"] {
            try await q.xadd([
                "id": id, "asset": id, "edit": QueueFixture.recipe,
                "notBefore": "2099-01-01T00:00:00Z",
            ])
        }
        #expect(try await !q.queue.admit().mayHaveMore)
        try await q.harm(["ZADD delayed XX 1 d", "ZADD delayed XX 1 e"])
        #expect(try await q.queue.admit().mayHaveMore)
        #expect(try await q.queue.admit().mayHaveMore)
        #expect(try await !q.queue.admit().mayHaveMore)

        // A batch, whose stream waits to be checked once it is empty.
        let batch = try BatchID("b")
        try await q.queue.open(BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        #expect(try await q.queue.admit().mayHaveMore)
        _ = try await q.queue.add([.init(asset: AssetPath("x"))], to: batch, from: 0)
        #expect(try await q.queue.admit().mayHaveMore)
        let last = try await q.queue.admit()
        #expect(!last.mayHaveMore && last.next != nil)
    }
}
