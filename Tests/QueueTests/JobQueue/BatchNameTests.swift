import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Names of batches that ended") struct BatchNameTests {
    /// A queue that has run batch `m` to its end and dropped its record.
    private func used() async throws -> QueueFixture {
        var settings = QueueSettings()
        settings.batchesMax = 0
        let q = try await QueueFixture(settings: settings)
        try await q.open("m", members: 1, sealed: 1)
        try await q.runToTheEnd()
        _ = try await q.queue.reap(by: "a")
        #expect(try await q.queue.record(of: BatchID("m")) == nil)
        return q
    }

    @Test func `ended batches beyond the number are the oldest of the tenant that has most`()
        async throws
    {
        var settings = QueueSettings()
        settings.batchesMax = 4
        let q = try await QueueFixture(settings: settings)
        let names = ["zoo.1", "acme.1", "acme.2", "acme.3", "acme.4", "acme.5"]
        for name in names {
            var scheduling = Scheduling()
            scheduling.tenant = try JobID(String(name.prefix { $0 != "." }))
            try await q.queue.open(
                BatchRequest(
                    id: BatchID(name), edit: Edit(json: QueueFixture.recipe),
                    scheduling: scheduling))
            _ = try await q.queue.admit()
            _ = try await q.queue.cancel(BatchID(name), reason: "no")
        }
        _ = try await q.queue.reap(by: "a")
        let left = try await q.queue.batches(count: 10).records.map(\.batch)
        #expect(Set(left) == ["zoo.1", "acme.3", "acme.4", "acme.5"])
        try await q.expectHealthy()
    }

    private func conflicts(_ q: QueueFixture) async throws -> [JobEvent.BatchConflict] {
        try await q.events().compactMap {
            if case .batchConflict(let data) = $0.data { data } else { nil }
        }
    }

    @Test(arguments: [QueueFixture.recipe, "{}"])
    func `a batch by a used name is refused with its lane, and the old one is named`(
        edit: String
    ) async throws {
        let q = try await used()
        for asset in ["x", "y", "z"] { try await q.addToBatchStream(of: "m", ["asset": asset]) }
        let entry = try await q.xadd(["batch": "m", "edit": .init(edit), "seal": "3"])
        _ = try await q.queue.admit()
        let conflict = try #require(try await conflicts(q).first)
        #expect(conflict.entry == entry && conflict.dropped == 3)
        let words = "batch m has ended, and its name is remembered until 20"
        #expect(conflict.message.hasPrefix(words))
        #expect(try await conflicts(q).count == 1)
        #expect(try await q.queue.status().counters["membersDropped"] == 3)
        #expect(try await q.queue.status()[.ready] == 0)
        let stream = RedisArgument(q.queue.name.keys.batchStream("m"))
        #expect(try await q.redis.send(["EXISTS", stream]).int == 0)
        try await q.expectHealthy()
    }

    @Test func `a lane that is filled after its batch was refused goes when the batch is sealed`()
        async throws
    {
        let q = try await used()
        try await q.xadd(["batch": "m", "seal": "1"])
        _ = try await q.queue.admit()
        #expect(try await conflicts(q).isEmpty, "it is sealed as it was")
        try await q.addToBatchStream(of: "m", ["asset": "x"])
        try await q.xadd(["batch": "m", "seal": "1"])
        _ = try await q.queue.admit()
        #expect(try await conflicts(q).map(\.dropped) == [1])
    }

    @Test func `members are refused under a used name, and of another edit, before they are added`()
        async throws
    {
        let q = try await used()
        let member = JobQueue.Member(asset: try AssetPath("x"))
        let answer = try await q.queue.add([member], to: BatchID("m"), from: 0)
        guard case .nameUsed(let until?) = answer else {
            Issue.record("\(answer)")
            return
        }
        let (now, keep) = (try await q.queue.now(), q.queue.settings.keepDone.milliseconds)
        #expect((now + keep...now + 2 * keep).contains(until))

        let edit = try Edit(json: QueueFixture.recipe).json.canonical
        let batch = try await q.open("n", members: 0)
        #expect(try await q.queue.add([member], to: batch, editedBy: "{}", from: 0) == .added(1))
        _ = try await q.queue.admit()
        #expect(try await q.queue.add([member], to: batch, editedBy: edit, from: 1) == .added(1))
        #expect(try await q.queue.add([member], to: batch, editedBy: "{}", from: 2) == .otherEdit)
        #expect(try await q.queue.add([], to: batch, editedBy: "{}", from: 0) == .otherEdit)
        #expect(try await q.queue.add([], to: batch, editedBy: edit, from: 0) == .added(0))
        let stream = RedisArgument(q.queue.name.keys.batchStream(batch.string))
        #expect(try await q.redis.send(["XLEN", stream]).int == 1)
    }

    @Test func `a name that no queue remembers is free`() async throws {
        let q = try await used()
        try await q.harm(["DEL seen:new", "DEL seen:old"])
        try await q.open("m", members: 2, sealed: 2)
        try await q.runToTheEnd()
        #expect(try await q.events().last?.name == "completed")
        #expect(try await conflicts(q).isEmpty)
    }
}
