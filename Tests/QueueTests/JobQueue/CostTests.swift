import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("The expected cost of a render") struct CostTests {
    /// A render that takes so many ms of a slot.
    private func render(_ q: QueueFixture, _ job: String, _ milliseconds: Int) async throws {
        try await q.admit(job)
        let claim = try await q.claim()
        let since = try #require(try await q.field("since", of: "job:\(job)").flatMap { Int($0) })
        try await q.setField("since", of: "job:\(job)", "\(since - milliseconds)")
        try await q.finish(claim)
    }

    private let unchanged = JobEvent.NoChange(mode: .replace, version: nil, reason: "same")

    @Test func `a thousand jobs that change nothing change no prediction of a render`() async throws
    {
        let q = try await QueueFixture()
        #expect(try await q.queue.meanCost() == nil)
        try await render(q, "one", 4000)
        let mean = try #require(try await q.queue.meanCost())
        #expect((4000..<14_000).contains(mean))
        try await q.admit(1000, [:])
        for claim in try await q.claim(1000, atOnce: 100) {
            #expect(try await q.queue.conclude(claim, unchanged) == .held)
        }
        #expect(try await q.queue.meanCost() == mean)
        try await q.admit("next")
        #expect(try await q.queue.facts(of: "next").number("mean") == Int(mean.rounded(.up)))
        let work = try await q.queue.waitingWork(q.queue.status(), within: .seconds(600))
        #expect(work.parts.map(\.seconds) == [mean / 1000])
        let claim = try await q.claim()
        #expect(
            try await q.field("charge", of: "job:next")
                == "normal:\(Int((mean * 1000).rounded(.up))):1")
        #expect(claim.job == "next")
    }

    @Test func `members of a batch that change nothing, or are cancelled, cost nothing`()
        async throws
    {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 4, sealed: 4)
        _ = try await q.queue.admit()
        let claims = try await q.claim(3)
        for claim in claims {
            try await q.setField(
                "since", of: "job:\(claim.job)", "\(try await q.queue.now() - 4000)")
        }
        #expect(try await q.queue.conclude(claims[0], unchanged) == .held)
        _ = try await q.queue.cancel([claims[1].job], reason: "no")
        #expect(try await q.queue.concludeCancelled(claims[1]) == .held)
        #expect(try await q.queue.record(of: batch)?.meanCost == nil)
        try await q.finish(claims[2])
        let mean = try #require(try await q.queue.record(of: batch)?.meanCost)
        #expect((4000..<14_000).contains(mean))
    }

    @Test func `the costs of renders of long ago are forgotten`() async throws {
        let q = try await QueueFixture()
        try await q.harm(["HSET virtual costMs 200000000 costJobs 1999 costStated 1"])
        try await render(q, "a", 1)
        #expect(try await q.field("costJobs", of: "virtual") == "1000")
        try await q.harm(["HSET virtual costJobs 1999"])
        try await render(q, "b", 1)
        #expect(
            try await q.field("costMs", of: "virtual").flatMap { Int($0) } ?? .max <= 50_010_000)
    }

    @Test func `the time in which a version waited for the library is no cost`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "carried")
        let claims = try await q.claim(2)
        for claim in claims {
            #expect(try await q.queue.commit(claim, q.event(claim), isDraft: false) == .held)
            // Since then, by the queue, an hour has passed.
            try await q.setField("since", of: "job:\(claim.job)", "1")
        }
        let carried = try #require(claims.first { $0.job == "carried" })
        try await q.setField("carries", of: "job:carried", "1")
        #expect(try await q.queue.finalize(job: "carried", fence: carried.fence) == .held)
        #expect(try await q.queue.meanCost() == nil)
        let other = try #require(claims.first { $0.job == "a" })
        #expect(try await q.queue.finalize(job: "a", fence: other.fence) == .held)
        #expect(try await q.queue.meanCost() ?? .infinity < 20_000)
        #expect(try await q.queue.status().counters["milliseconds"] ?? .max < 40_000)
    }
}
