import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// Fields that belong to no job, and which each call reads: a damaged one ends nobody's work.
@Suite("A damaged value of the whole queue") struct DamagedSumTests {
    @Test(arguments: [
        "HSET virtual costMs x costJobs x", "HSET virtual turn x recheck x", "HSET virtual time x",
        "HSET virtual ticked x lived x shift x", "HSET config cap x",
        "HSET config weight:default x",
        "HSET config weight:default 0",
    ])
    func `keeps no job from being claimed, and makes none dead`(harm: String) async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c")
        try await q.harm([harm])
        #expect(try await q.queue.claim(by: "w", count: 3).jobs.map(\.job) == ["a", "b", "c"])
    }

    @Test(arguments: [
        "HSET virtual after:in x floor x", "HSET virtual ticked x lived x shift x",
        "HSET virtual laneTurn x laneNext x", "HSET virtual tended x tendNext x",
        "HSET virtual tendScan x tendReserved x tendUnopened x", "HSET virtual seenSince x",
    ])
    func `keeps no entry from being admitted, and no order from being kept`(
        harm: String
    ) async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        _ = try await q.open("b", members: 0)
        _ = try await q.queue.admit()
        _ = try await q.queue.feed()
        try await q.harm([harm])
        try await q.admit("c")
        _ = try await q.queue.feed()
        _ = try await q.queue.tend()
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.queue.claim(by: "w", count: 3).jobs.map(\.job) == ["a", "c"])
    }

    @Test(arguments: ["HSET running t x", "HSET stored t x", "HSET counters completed x"])
    func `of a tenant loses no sum of another one's job that ends in the same call`(
        harm: String
    ) async throws {
        let q = try await QueueFixture()
        for tenant in ["t", "u", "v"] {
            try await q.xadd([
                "id": tenant, "asset": tenant, "edit": QueueFixture.recipe, "tenant": tenant,
            ])
        }
        _ = try await q.queue.admit()
        let claims = try await q.queue.claim(by: "w", count: 3).jobs
        #expect(claims.count == 3)
        for claim in claims { _ = try await q.queue.commit(claim, q.event(claim), isDraft: false) }
        try await q.harm([harm])
        _ = try await q.queue.run(QueueScript.finalize, claims.flatMap { [$0.job, $0.fence] })
        for tenant in ["u", "v"] {
            #expect(try await q.field(tenant, of: "running") == nil)
            #expect(try await q.field(tenant, of: "stored") == nil)
        }
    }

    @Test func `of a batch does not keep other batches from being fed`() async throws {
        let q = try await QueueFixture()
        _ = try await q.open("a", members: 0)
        _ = try await q.queue.admit()
        let other = try await q.open("b", members: 2)
        try await q.harm(["DEL batch:a", "SET batch:a x"])
        _ = try await q.queue.admit()
        _ = try await q.queue.feed()
        #expect(try await q.queue.claim(by: "w", count: 2).jobs.count == 2)
        #expect(try await q.queue.record(of: other)?.admitted == 2)
    }
}
