import Edits
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Admit") struct AdmitTests {
    @Test func `a plain XADD becomes a job under its entry's id`() async throws {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["asset": "IMG_0001.JPG", "edit": QueueFixture.recipe])
        #expect(try await q.queue.admit().admitted == 1)
        let claim = try await q.claim()
        #expect(claim.job == entry)
        #expect(claim.asset == "IMG_0001.JPG")
        #expect(claim.edit == QueueFixture.recipe)
        #expect(try await q.queue.status()[.incoming] == 0)
    }

    @Test(
        arguments: [
            (["asset": "a.jpg"], FailureCode.missingField),
            (["edit": "{}"], .missingField),
            (["asset": "a.jpg", "edit": "{}", "colour": "high"], .unknownField),
            (["asset": "a.jpg", "edit": "{}", "priority": "high"], .invalidValue),
            (["asset": "a.jpg", "edit": String(repeating: "x", count: 65_537)], .oversizedField),
            (["asset": String(repeating: "x", count: 1025), "edit": "{}"], .oversizedField),
            (["asset": "a.jpg", "edit": "{}", "id": "not an id"], .invalidValue),
            (
                ["asset": "a.jpg", "edit": "{}", "id": String(repeating: "i", count: 65)],
                .invalidValue
            ),
        ] as [([String: String], FailureCode)])
    func `a wrong envelope ends dead with a code, a sentence and an event`(
        fields: [String: String], code: FailureCode
    ) async throws {
        let q = try await QueueFixture()
        let words = fields.flatMap { [RedisArgument($0.key), RedisArgument($0.value)] }
        _ = try await q.redis.send(["XADD", RedisArgument(q.queue.name.keys.ingress), "*"] + words)
        try await q.xadd(["id": "next", "asset": "b.jpg", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()

        let dead = try #require(try await q.queue.dead(offset: 0, count: 2).first)
        #expect(dead.code == code)
        let event = try #require(try await q.events().first)
        guard case .failed(let failed) = event.data else { Issue.record("\(event)"); return }
        #expect(failed.job == dead.job)
        #expect(failed.error.code == code)
        #expect(failed.error.message == dead.message)
        #expect(failed.error.permanent)
        // The queue goes on.
        #expect(try await q.claim().job == "next")
    }

    @Test func `an asset that is not UTF-8 ends dead and its event is readable`() async throws {
        let q = try await QueueFixture()
        _ = try await q.redis.send([
            "XADD", RedisArgument(q.queue.name.keys.ingress), "*",
            "asset", RedisArgument([0x49, 0xFF, 0xC0, 0x80]), "edit", "{}",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.events().first?.subject == "I???")
        #expect(try await q.queue.dead(offset: 0, count: 1).first?.code == .invalidValue)
    }

    @Test(arguments: ["ü.jpg", "写真/ねこ.jpg", "😀.heic"])
    func `an asset in any script is kept as it is`(asset: String) async throws {
        let q = try await QueueFixture()
        try await q.admit(asset == "ü.jpg" ? "plain.jpg" : "other.jpg")
        try await q.xadd(["id": "x", "asset": asset, "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: "x")?.asset == asset)
    }

    @Test func `the same id with the same payload is taken once`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "a", "a")
        let status = try await q.queue.status()
        #expect(status[.ready] == 1)
        #expect(status.counters["duplicates"] == 2)
        #expect(try await q.events().isEmpty)
    }

    @Test func `a done job's id is not run again`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.finish(q.claim())
        try await q.admit("a")
        #expect(try await q.queue.status()[.ready] == 0)
    }

    @Test func `a job that was cancelled or is dead is not run again, and its producer is told`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("cancelled", "dead", "dropped")
        let claims = try await q.claim(3)
        for claim in claims where claim.job != "cancelled" {
            _ = try await q.queue.fail(claim, by: "w", Failure(.missingAsset, "no"), random: 0)
        }
        let held = try #require(claims.first { $0.job == "cancelled" })
        #expect(try await q.queue.concludeCancelled(held) == .held)
        let dropped = try #require(try await q.queue.record(of: "dropped"))
        #expect(try await q.queue.removeDead([("dropped", dropped.generation)]) == 1)
        let reader = try await EventReader(queue: q.queue.name, redis: q.redis, afterNewest: ())
        try await q.admit("cancelled", "dead", "dropped")
        #expect(try await q.queue.status()[.ready] == 0)
        var late = reader
        let reported = try await late.next().map { entry -> String in
            guard case .conflict(let conflict) = entry.event.data else { return "\(entry.event)" }
            return conflict.message
        }
        #expect(reported.count == 3)
        for (message, word) in zip(reported, ["was cancelled", "has failed", "was dropped"]) {
            #expect(message.contains(word), "\(message)")
        }
        #expect(try await q.queue.status().counters["duplicates"] == nil)
    }

    @Test func `the same id with another payload is told in an event and not taken`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let entry = try await q.xadd(["id": "a", "asset": "other", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let event = try #require(try await q.events().first)
        guard case .conflict(let conflict) = event.data else { Issue.record("\(event)"); return }
        #expect(conflict.job == "a")
        #expect(conflict.entry == entry)
        #expect(try await q.queue.record(of: "a")?.asset == "a")
    }

    @Test func `a long ingress stream is admitted in bounded bites`() async throws {
        var settings = QueueSettings()
        settings.admitMax = 10
        let q = try await QueueFixture(settings: settings)
        for number in 0..<25 {
            try await q.xadd(["asset": "\(number)", "edit": QueueFixture.recipe])
        }
        #expect(try await q.queue.admit().admitted == 10)
        #expect(try await q.queue.admit().admitted == 10)
        #expect(try await q.queue.admit().admitted == 5)
        #expect(try await q.queue.status()[.ready] == 25)
    }

    @Test func `a producer needs no other right than XADD on one key`() async throws {
        let q = try await QueueFixture()
        let user = "producer-\(q.queue.name)"
        _ = try await q.redis.send([
            "ACL", "SETUSER", RedisArgument(user), "on", ">secret",
            RedisArgument("~\(q.queue.name.keys.ingress)"), "+xadd",
        ])
        let producer = RedisClient(
            RedisConfiguration(
                url: try RedisURL("redis://\(user):secret@127.0.0.1:\(q.server.port)")),
            logger: .init(label: "test"))
        let queue = JobQueue(name: q.queue.name, redis: producer)
        _ = try await queue.enqueue(
            JobRequest(asset: AssetPath("a.jpg"), edit: Edit(json: QueueFixture.recipe)))
        await #expect(throws: QueueError.self) { try await queue.admit() }
        await producer.close()
        #expect(try await q.queue.admit().admitted == 1)
    }

    @Test func `a dead letter does not take the name of a job whose record is gone`() async throws {
        var settings = QueueSettings()
        settings.keepDone = .seconds(-1)
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a")
        try await q.finish(q.claim())
        _ = try await q.queue.reap(by: "a")
        let entry = try await q.xadd(["id": "a", "asset": "a", "edit": "{}", "cost": "much"])
        _ = try await q.queue.admit()
        #expect(try await q.events().map(\.id).last == "\(q.queue.name)/\(entry)/1/failed")
    }

    @Test(arguments: [
        ("urn:order:a", true), ("order:77:photo-3", true), ("spring:4711", false),
        ("batch:spring", false), (":a", false), ("a:", false),
    ])
    func `an id may have colons, but for names of batches and of their jobs`(
        _ id: String, _ isAllowed: Bool
    ) async throws {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["id": id, "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        #expect(try await q.state(of: isAllowed ? id : entry) == (isAllowed ? "ready" : "dead"))
        let isTaken = (try? JobID(ofJob: id)) != nil  // a test, which may fail
        #expect(isTaken == isAllowed)
        guard isAllowed else { return }
        let claim = try await q.claim()
        #expect(claim.job == id)
        try await q.finish(claim)
        #expect(try await q.state(of: id) == "done")
    }
}
