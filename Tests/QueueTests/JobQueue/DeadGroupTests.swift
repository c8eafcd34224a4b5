import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Groups of dead jobs") struct DeadGroupTests {
    private func die(
        _ q: QueueFixture, _ id: String, tenant: String = "default",
        _ code: FailureCode = .missingAsset, edit: String = QueueFixture.recipe
    ) async throws {
        try await q.xadd(["id": id, "asset": id, "tenant": tenant, "edit": edit])
        _ = try await q.queue.admit()
        _ = try await q.queue.fail(q.claim(), by: "w", Failure(code, "no"), random: 0)
    }

    /// `code tenant jobs` of each group.
    private func groups(_ q: QueueFixture) async throws -> [String] {
        try await q.queue.deadGroups().groups
            .map { "\($0.code) \($0.tenant) \($0.jobs)" }
    }

    @Test func `dead jobs are counted by code, tenant and edit as they die and go`() async throws {
        let q = try await QueueFixture()
        for id in ["a", "b", "c"] { try await die(q, id, tenant: "acme") }
        try await die(q, "d", tenant: "acme", edit: SubmitTests.other)
        try await die(q, "e", tenant: "zeta", .damagedPhoto)
        try await q.xadd(["id": "f", "asset": "f"])
        _ = try await q.queue.admit()
        #expect(
            Set(try await groups(q)) == [
                "missingAsset acme 3", "missingAsset acme 1", "damagedPhoto zeta 1",
                "missingField default 1",
            ])
        let first = try #require(try await q.queue.deadGroups().groups.first)
        #expect(first.jobs == 3 && first.sample == "c" && first.first <= first.last)

        var filter = DeadFilter(.everything)
        filter.group = first.name
        var reader = try await DeadReader(q.queue, filter)
        #expect(try await reader.next()?.map(\.job) == ["a", "b", "c"])

        #expect(try await q.queue.replay(["a", "e"]) == [.replayed, .replayed])
        #expect(try await q.queue.removeDead([("b", 1), ("d", 1)]) == 2)
        // The id of a dead letter is given to the job that is sent in its stead.
        try await q.xadd(["id": "f", "asset": "f", "edit": "{}"])
        _ = try await q.queue.admit()
        #expect(try await groups(q) == ["missingAsset acme 1"])
        #expect(try await q.queue.diagnose().warnings.allSatisfy { !$0.contains("groups") })
    }

    /// Entries that are no jobs: two that name a tenant, one that names none, one whose tenant is no name, and one of a batch's stream.
    private func sendWrong(_ q: QueueFixture) async throws {
        try await q.xadd(["batch": "zoo.m", "edit": QueueFixture.recipe, "tenant": "zoo"])
        try await q.xadd(["id": "acme.a", "asset": "acme/a", "tenant": "acme"])
        try await q.xadd(["batch": "none", "seal": "1", "tenant": "acme"])
        try await q.xadd(["id": "b", "asset": "b", "edit": "{}", "tenant": "acme b"])
        try await q.xadd(["id": "c", "asset": "c"])
        try await q.addToBatchStream(of: "zoo.m", ["asset": "zoo/x", "colour": "red"])
        _ = try await q.queue.admit()
    }

    @Test func `a wrong entry is dead as one of the tenant that it names, or of its batch`()
        async throws
    {
        let q = try await QueueFixture()
        try await sendWrong(q)
        #expect(
            try await groups(q).sorted() == [
                "invalidValue default 1", "missingField acme 1", "missingField default 1",
                "noSuchBatch acme 1", "unknownField zoo 1",
            ])
        // Keys of a tenant see those with its names, and nobody else's.
        let seen: [(tenant: String, jobs: [String])] = [
            ("acme", ["acme.a"]), ("zoo", ["zoo.m:0"]), ("default", []),
        ]
        for (tenant, jobs) in seen {
            var reader = try await DeadReader(
                q.queue, DeadFilter(Reach(tenant: tenant, folder: "")))
            #expect(try await reader.next()?.map(\.job) == jobs)
            var filter = DeadFilter(.everything)
            filter.tenant = try JobID(tenant)
            var all = try await DeadReader(q.queue, filter)
            #expect(try await all.next()?.count == (tenant == "zoo" ? 1 : 2))
        }
        let failed = try await q.events().filter { $0.name == "failed" }
        #expect(
            failed.compactMap(\.tenant).sorted() == ["acme", "acme", "default", "default", "zoo"])
        try await q.expectHealthy()
    }

    @Test func `the bytes of a wrong entry are those of its tenant until it goes`() async throws {
        let q = try await QueueFixture()
        try await sendWrong(q)
        func stored(_ tenant: String) async throws -> Int {
            try await q.queue.stored(by: JobID(tenant))
        }
        #expect(try await stored("acme") == 2 * 450 + "acme/a".utf8.count)
        #expect(try await stored("default") == 2 * 450 + 2)
        let batch = 600 + QueueFixture.recipe.utf8.count
        #expect(try await stored("zoo") == batch + 450 + "zoo/x".utf8.count)
        // Sent right, of whatever tenant: the wrong one's bytes were acme's.
        try await q.xadd(["id": "acme.a", "asset": "acme/a", "edit": "{}", "tenant": "zoo"])
        _ = try await q.queue.admit()
        #expect(try await stored("acme") == 450)
        #expect(try await q.queue.removeDead([("zoo.m:0", 1)]) == 1)
        #expect(try await stored("zoo") == batch + 450 + "acme/a".utf8.count + 2)
        try await q.expectHealthy()
        // Pushed out by another one.
        var settings = QueueSettings()
        settings.malformedMax = 1
        let small = JobQueue(name: q.queue.name, redis: q.redis, settings: settings)
        for _ in 0..<4 {
            try await q.xadd(["asset": "c"])
            _ = try await small.admit()
        }
        #expect(try await stored("acme") == 0)
        try await q.expectHealthy()
    }

    @Test func `the doctor counts jobs in that died under an earlier release`() async throws {
        let q = try await QueueFixture()
        for id in ["a", "b", "c"] { try await die(q, id) }
        for command in ["DEL dead:groups", "HDEL job:a group", "HDEL job:b group"] {
            try await q.harm([command])
        }
        let before = try await q.queue.diagnose()
        #expect(before.isHealthy && before.warnings.contains { $0.contains("3 are dead") })
        let repaired = try await q.queue.diagnose(repair: true)
        #expect(repaired.isHealthy)
        #expect(repaired.mended.map(\.kind) == [.deadMiscounted])
        #expect(try await groups(q) == ["missingAsset default 3"])
        // A job that is counted anew is taken off once.
        #expect(try await q.queue.replay(["a"]) == [.replayed])
        #expect(try await groups(q) == ["missingAsset default 2"])
    }

    @Test func `a job that no repair has counted yet takes nothing off`() async throws {
        let q = try await QueueFixture()
        for id in ["a", "b"] { try await die(q, id) }
        try await q.harm(["DEL dead:groups", "HSET dead:groups epoch 2"])
        try await die(q, "c")
        #expect(try await q.queue.replay(["a"]) == [.replayed])
        #expect(try await groups(q) == ["missingAsset default 1"])
        _ = try await q.queue.diagnose(repair: true)
        #expect(try await groups(q) == ["missingAsset default 2"])
    }

    @Test func `of too many causes the rest is counted together`() async throws {
        let q = try await QueueFixture()
        for number in 0..<DeadGroup.groupsMax {
            _ = try await q.redis.send([
                "HSET", RedisArgument(q.queue.name.keys.deadGroups), "x:t\(number):-",
                "1 5 5 j",
            ])
        }
        try await die(q, "a")
        try await die(q, "b", tenant: "t1")
        let all = try await q.queue.deadGroups()
        #expect(all.groups.count == DeadGroup.groupsMax && all.others == 2)
        #expect(try await q.queue.record(of: "a")?.group == "other")
        #expect(try await q.queue.removeDead([("a", 1)]) == 1)
        #expect(try await q.queue.deadGroups().others == 1)
    }
}

@Suite("Places between dead jobs") struct DeadPositionTests {
    @Test func `a reader goes on at a place that was given away as text, whatever went meanwhile`()
        async throws
    {
        let q = try await QueueFixture()
        for number in 0..<500 {
            let id = "j\(number)"
            let commands: [[RedisArgument]] = [
                [
                    "ZADD", RedisArgument(q.queue.name.keys.dead),
                    RedisArgument(1000 + number / 250), RedisArgument(id),
                ],
                ["HSET", RedisArgument(q.queue.name.keys.job(id)), "state", "dead", "asset", "x"],
            ]
            for result in await q.redis.sendAll(commands) { _ = try result.get() }
        }
        var position: DeadReader.Position?
        var read: [String] = []
        while true {
            var reader = try await DeadReader(q.queue, DeadFilter(.everything), after: position)
            guard let page = try await reader.next(37) else { break }
            #expect(page.count <= 37)
            read += page.map(\.job)
            position = try DeadReader.Position(reader.position.description)
            // The one that the place names goes, and one dies that is not to be read any more.
            _ = try await q.queue.removeDead(page.suffix(2).map { ($0.job, 1) })
            _ = try await q.redis.send([
                "ZADD", RedisArgument(q.queue.name.keys.dead), "9000000000000",
                RedisArgument("late\(read.count)"),
            ])
        }
        #expect(read.count == 500 && Set(read).count == 500)
    }

    @Test(
        arguments: [
            "", "1", "1,2", "a,2,x", "1,-2,x", "9007199254740992,1,x", "1,2,a b", "1,2,\u{7}",
            "1,2," + String(repeating: "x", count: 300),
        ]) func `a text that is no place is refused`(text: String)
    {
        #expect(throws: Failure.self) { try DeadReader.Position(text) }
    }
}
