import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("The owner of an event") struct EventOwnerTests {
    @Test func `each event of a job says its tenant, however the job ends`() async throws {
        let q = try await QueueFixture()
        for id in ["a", "b", "c"] {
            try await q.xadd([
                "id": id, "asset": id, "edit": QueueFixture.recipe, "tenant": "acme",
            ])
        }
        // The same name with another edit, of another tenant: the entry is refused, and is not acme's.
        try await q.xadd(["id": "a", "asset": "x", "edit": "{}", "tenant": "globex"])
        try await q.xadd(["id": "d", "asset": "d", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        _ = try await q.queue.cancel(["c", "d"], reason: "no")
        let first = try await q.claim()
        _ = try await q.queue.fail(first, by: "a", Failure(.ioFailure, "again"), random: 0)
        let second = try await q.claim()
        _ = try await q.queue.fail(second, by: "a", Failure(.missingAsset, "no"), random: 0)
        try await q.finish(q.claim())
        let events = try await q.events()
        let said = events.map { "\($0.type.split(separator: ".").last ?? "") \($0.tenant ?? "-")" }
        #expect(
            said.sorted() == [
                "cancelled acme", "cancelled default", "completed acme", "conflict globex",
                "failed acme", "retried acme",
            ])
        #expect(events.allSatisfy { $0.folder == nil })
    }

    @Test func `events of a batch and what explains its members say the folder of its key`()
        async throws
    {
        let q = try await QueueFixture()
        func batch(_ name: String) throws -> BatchRequest {
            var scheduling = Scheduling()
            scheduling.tenant = try JobID("acme")
            return BatchRequest(
                id: try BatchID(name), edit: try Edit(json: QueueFixture.recipe),
                scheduling: scheduling)
        }
        let own = try batch("acme.own")
        #expect(try await q.queue.submit(own, folder: "acme/a/", backlogMax: nil) == .created)
        #expect(try await q.queue.record(of: own.id)?.folder == "acme/a/")
        // It is another's to nobody: the first key's folder stays.
        #expect(try await q.queue.submit(own, folder: "acme/b/", backlogMax: nil) == .same)
        let members = [JobQueue.Member(asset: try AssetPath("acme/a/1"))]
        #expect(try await q.queue.add(members, to: own.id, from: 0) == .added(1))
        let facts = try await q.queue.facts(of: "acme.own:0")
        #expect(facts.state == .lane && facts.fields["batchFolder"] == "acme/a/")
        #expect(try await q.queue.submitSeal(of: own.id, jobs: 1) == .sealed)
        _ = try await q.queue.admit()
        try await q.finish(q.claim())
        try await q.queue.open(batch("acme.plain"))
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: BatchID("acme.plain"))?.folder == nil)
        let events = try await q.events()
        #expect(events.allSatisfy { $0.tenant == "acme" })
        let completed = try #require(events.first { $0.batch == "acme.own" })
        #expect(completed.folder == "acme/a/")
    }

    /// Cancelled in the stream by its name, with an asset and without one; malformed; of a name that another job has.
    @Test
    func `every end of a member is told to the tenant of its batch, in the folder of its key`()
        async throws
    {
        let q = try await QueueFixture()
        var scheduling = Scheduling()
        scheduling.tenant = try JobID("acme")
        let batch = BatchRequest(
            id: try BatchID("acme.own"), edit: try Edit(json: QueueFixture.recipe),
            scheduling: scheduling)
        #expect(try await q.queue.submit(batch, folder: "acme/a/", backlogMax: nil) == .created)
        _ = try await q.queue.admit()
        let lane = RedisArgument(q.queue.name.keys.batchStream("acme.own"))
        for (number, field) in ["asset", "edit", "asset", "edit"].enumerated() {
            let value = field == "asset" ? "acme/a/\(number)" : QueueFixture.recipe
            _ = try await q.redis.send([
                "XADD", lane, RedisArgument("1-\(number + 1)"), RedisArgument(field),
                RedisArgument(value),
            ])
        }
        #expect(
            try await q.queue.cancel(["acme.own:0", "acme.own:1"], reason: "no").allSatisfy {
                $0 == .cancelled
            })
        #expect(try await q.queue.submitSeal(of: batch.id, jobs: 4) == .sealed)
        while try await q.queue.feed().jobs > 0 {}
        try await q.finish(q.claim())
        let events = try await q.events()
        #expect(
            events.map(\.name).sorted() == [
                "cancelled", "cancelled", "completed", "completed", "failed",
            ])
        #expect(events.allSatisfy { $0.tenant == "acme" })
        for event in events {
            #expect(Reach(tenant: "acme", folder: "acme/a/").covers(event), "\(event)")
            #expect(Reach(tenant: "acme", folder: "").covers(event))
            #expect(!Reach(tenant: "acme", folder: "acme/b/").covers(event))
            #expect(!Reach(tenant: "other", folder: "").covers(event))
        }
    }

    @Test func `a filter of dead jobs finds those within its reach alone`() async throws {
        let q = try await QueueFixture()
        for (id, asset, tenant) in [
            ("acme.1", "acme/a/1", "acme"), ("acme.2", "acme/b/2", "acme"),
            ("acme.3", "acme/a/3", "globex"), ("order-4", "acme/a/4", "acme"),
        ] {
            try await q.xadd([
                "id": id, "asset": asset, "tenant": tenant, "edit": QueueFixture.recipe,
            ])
        }
        _ = try await q.queue.admit()
        for _ in 0..<4 {
            _ = try await q.queue.fail(q.claim(), by: "a", Failure(.missingAsset, "no"), random: 0)
        }
        func found(_ reach: Reach) async throws -> Set<String> {
            var reader = try await DeadReader(q.queue, DeadFilter(reach))
            return Set(try await reader.next()?.map(\.job) ?? [])
        }
        #expect(try await found(Reach(tenant: "acme", folder: "acme/a/")) == ["acme.1"])
        #expect(try await found(Reach(tenant: "acme", folder: "")) == ["acme.1", "acme.2"])
        #expect(try await found(Reach(tenant: nil, folder: "acme/b/")) == ["acme.2"])
        #expect(try await found(.everything).count == 4)
        let filter = DeadFilter(Reach(tenant: "acme", folder: "acme/a/"))
        let records = try await q.queue.dead(offset: 0, count: 4)
        #expect(
            records.count == 4 && records.filter { filter.matches($0) }.map(\.job) == ["acme.1"])
        // The same jobs as they are moved to a file.
        let spilled = try await q.queue.spilled(records.map(\.job))
        #expect(
            spilled.count == 4 && spilled.filter { filter.matches($0) }.map(\.job) == ["acme.1"])
    }
}
