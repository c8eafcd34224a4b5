import Adjustments
import Redis
import Testing

@testable import JobQueue

@Suite("Why a job is where it is") struct ExplainTests {
    @Test func `the facts of a job are those of its state`() async throws {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["asset": "x", "edit": QueueFixture.recipe])
        #expect(try await q.queue.facts(of: entry).state == "incoming")
        try await q.admit("a", "b")
        try await q.xadd(["id": "a2", "asset": "a", "edit": QueueFixture.recipe])
        try await q.xadd([
            "id": "late", "asset": "l", "edit": QueueFixture.recipe,
            "notBefore": "2100-01-01T00:00:00Z",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.queue.facts(of: entry).state == "ready")
        #expect(try await q.queue.facts(of: "b").number("rank") == 2)
        let parked = try await q.queue.facts(of: "a2")
        #expect(parked.state == "parked" && parked.text("holder") == "a")
        #expect(try await q.queue.facts(of: "late").has("due"))
        #expect(try await q.queue.facts(of: "nobody").state == "unknown")

        try await q.queue.set([.cap(nil, 1)])
        let claim = try await q.claim()
        #expect(try await q.queue.facts(of: claim.job).text("worker") == "a")
        let capped = try await q.queue.facts(of: "b")
        #expect(capped.has("capped") && capped.number("running") == 1)
        _ = try await q.queue.cancel(["b"], reason: "twice")
        let cancelled = try await q.queue.facts(of: "b").reason
        guard case .cancelled(_, "twice") = cancelled else {
            Issue.record("\(cancelled)")
            return
        }
    }

    @Test func `a job in a lane knows how many of its batch are ahead`() async throws {
        let q = try await QueueFixture()
        let batch = try BatchID("b")
        try await q.queue.open(
            BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe), cap: 2))
        _ = try await q.queue.add(
            try (0..<5).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }, to: batch, from: 0)
        _ = try await q.queue.admit()
        #expect(try await q.queue.facts(of: "b:1").state == "ready")
        let last = try await q.queue.facts(of: "b:4")
        #expect(last.state == "lane" && last.number("rank") == 2)
        #expect(try await q.queue.facts(of: "b:5").state == "unknown")
    }
}
