import Edits
import Foundation
import Redis
import MinilabTesting
import Testing

@testable import JobQueue

/// The values of an asset for placeholders, on their way from a producer to the worker. They are people's names.
@Suite("An asset's fields") struct FieldsTests {
    private static let ada = #"{"name":"Ada Lovelace"}"#
    private static let bo = #"{"name":"Bo"}"#

    private func request(_ id: String, _ fields: String?) throws -> JobRequest {
        try JobRequest(
            id: JobID(id), asset: AssetPath(id), edit: Edit(json: QueueFixture.recipe),
            fields: fields.map { try AssetFields(json: $0) })
    }

    @Test func `go from the entry to the claim, and are in no event`() async throws {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "a", "asset": "a", "edit": QueueFixture.recipe, "fields": Self.ada,
        ])
        _ = try await q.queue.enqueue(request("b", Self.bo))
        _ = try await q.queue.submit(request("c", Self.ada), backlogMax: nil)
        try await q.admit("d")
        let claims = try await q.queue.claim(by: "w", count: 8).jobs
        #expect(
            Dictionary(claims.map { ($0.job, $0.fields) }, uniquingKeysWith: { $1 })
                == ["a": Self.ada, "b": Self.bo, "c": Self.ada, "d": nil])
        for claim in claims { try await q.finish(claim) }
        let events = try await q.redis.send([
            "XRANGE", RedisArgument(q.queue.name.keys.events), "-", "+",
        ])
        #expect(!"\(events)".contains("Lovelace"))
        #expect(try await q.field("format", of: "job:d") == "2")
        #expect(try await q.field("format", of: "job:a") == "4", "earlier releases leave it alone")
    }

    @Test func `leave Redis when the job is done, and stay for a replay when it dies`() async throws
    {
        let q = try await QueueFixture()
        _ = try await q.queue.enqueue(request("a", Self.ada))
        _ = try await q.queue.enqueue(request("b", Self.bo))
        _ = try await q.queue.admit()
        for claim in try await q.queue.claim(by: "w", count: 8).jobs {
            if claim.job == "a" {
                try await q.finish(claim)
            } else {
                _ = try await q.queue.fail(
                    claim, by: "w", Failure(.damagedPhoto, "cut off"), random: 0)
            }
        }
        #expect(try await q.field("fields", of: "job:a") == nil)
        #expect(try await q.state(of: "b") == "dead")
        _ = try await q.queue.replay(["b"])
        #expect(try await q.claim().fields == Self.bo)
    }

    @Test func `are a part of the job: the same id with others is another job`() async throws {
        let q = try await QueueFixture()
        #expect(
            try await q.queue.submit(request("a", Self.ada), backlogMax: nil).isAccepted)
        for isAdmitted in [false, true] {
            if isAdmitted { _ = try await q.queue.admit() }
            guard case .same = try await q.queue.submit(request("a", Self.ada), backlogMax: nil)
            else {
                Issue.record("the same job is another one")
                continue
            }
            for other in [Self.bo, nil] {
                #expect(
                    try await q.queue.submit(request("a", other), backlogMax: nil) == .conflict)
            }
        }
        try await q.finish(q.claim())
        #expect(try await q.queue.submit(request("a", Self.bo), backlogMax: nil) == .conflict)
        guard case .same = try await q.queue.submit(request("a", Self.ada), backlogMax: nil) else {
            Issue.record("the same job is another one when it is done")
            return
        }
    }

    @Test func `of a batch's members are their own`() async throws {
        let q = try await QueueFixture()
        let batch = try BatchID("race")
        _ = try await q.queue.open(BatchRequest(id: batch, edit: Edit(json: QueueFixture.recipe)))
        _ = try await q.queue.admit()
        let answer = try await q.queue.add(
            [
                .init(asset: AssetPath("a"), fields: AssetFields(json: Self.ada)),
                .init(asset: AssetPath("b"), cost: 5),
                .init(
                    asset: AssetPath("c"), edit: Edit(json: #"{"filters":[]}"#), cost: 7,
                    fields: AssetFields(json: Self.bo)),
            ], to: batch, from: 0)
        #expect(answer == .added(3))
        _ = try await q.queue.admit()
        let claims = try await q.queue.claim(by: "w", count: 8).jobs.sorted { $0.asset < $1.asset }
        #expect(claims.map(\.fields) == [Self.ada, nil, Self.bo])
        #expect(claims.map(\.asset) == ["a", "b", "c"])
        #expect(claims[2].edit == #"{"filters":[]}"#)
    }

    @Test func `beyond the limit of bytes are refused when they arrive`() async throws {
        let q = try await QueueFixture()
        let long = #"{"a":"\#(String(repeating: "x", count: ContractLimits.fieldsBytesMax - 7))"}"#
        try await q.xadd([
            "id": "a", "asset": "a", "edit": QueueFixture.recipe, "fields": long,
        ])
        try await q.xadd([
            "id": "b", "asset": "b", "edit": QueueFixture.recipe,
            "fields": String(long.dropLast()),
        ])
        _ = try await q.queue.admit()
        #expect(long.utf8.count == ContractLimits.fieldsBytesMax + 1)
        #expect(try await q.field("code", of: "job:a") == "oversizedField")
        #expect(try await q.state(of: "b") == "ready")
    }

    @Test func `are counted among the bytes of their tenant`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let tenant = try JobID("default")
        let without = try await q.queue.stored(by: tenant)
        try await q.xadd([
            "id": "b", "asset": "b", "edit": QueueFixture.recipe, "fields": Self.ada,
        ])
        _ = try await q.queue.admit()
        #expect(try await q.queue.stored(by: tenant) == 2 * without + Self.ada.utf8.count)
    }

    @Test func `come back with a dead job from its file`() async throws {
        let q = try await QueueFixture()
        _ = try await q.queue.enqueue(request("a", Self.ada))
        _ = try await q.queue.admit()
        _ = try await q.queue.fail(q.claim(), by: "w", Failure(.damagedPhoto, "cut off"), random: 0)
        let spilled = try #require(try await q.queue.spilled(["a"]).first)
        #expect(spilled.fields == Self.ada)
        let line = try JSONEncoder().encode(spilled)
        #expect(try JSONDecoder().decode(SpilledJob.self, from: line) == spilled)
        _ = try await q.queue.removeDead([("a", 1)], writtenTo: "file")
        #expect(try await q.queue.restore(spilled) == .replayed)
        #expect(try await q.claim().fields == Self.ada)
    }
}

extension JobQueue.Submission {
    fileprivate var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }
}
