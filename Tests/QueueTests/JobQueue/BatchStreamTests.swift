import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Lanes of batches") struct BatchStreamTests {
    @Test func `a member whose cost is no number dies alone`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe, "cost": "10"])
        try await q.addToBatchStream(of: "m", ["asset": "a", "cost": "much"])
        try await q.addToBatchStream(of: "m", ["asset": "b"])
        #expect(try await q.queue.admit().admitted == 3)
        #expect(try await q.state(of: "m:0") == "dead")
        #expect(try await q.claim().job == "m:1")
    }

    @Test func `a batch whose record lacks its tenant goes on under the usual one`() async throws {
        let q = try await QueueFixture()
        try await q.open("b", members: 2)
        try await q.harm(["HDEL batch:b tenant priority"])
        #expect(try await q.queue.admit().problems.isEmpty)
        let claims = try await q.claim(2)
        #expect(claims.map(\.tenant) == ["default", "default"])
        try await q.expectHealthy()
    }

    @Test func `a batch that is damaged is told of and keeps no other from being fed`() async throws
    {
        let q = try await QueueFixture()
        for batch in ["bad", "good"] { try await q.open(batch, members: 2) }
        try await q.harm(["HSET batch:bad holes 1", "RPUSH batch:bad:ended x"])
        let fed = try await q.queue.admit()
        #expect(fed.problems.count == 1)
        #expect(fed.problems.first?.contains("lane:bad") == true)
        #expect(try await q.claim(4).map(\.batch) == ["good", "good"])
        // It is not tried again and again.
        #expect(try await q.queue.admit().problems.isEmpty)
    }

    @Test func `what is sent to a batch that is damaged ends dead and keeps nothing else out`()
        async throws
    {
        let q = try await QueueFixture()
        for batch in ["bad", "worse"] { try await q.open(batch, members: 1) }
        _ = try await q.queue.admit()
        try await q.harm([
            "HSET batch:bad admitted xyz holes abc", "DEL batch:worse", "SET batch:worse x",
        ])
        for batch in ["bad", "worse"] { try await q.xadd(["batch": batch, "seal": "2"]) }
        try await q.xadd(["id": "a", "asset": "a", "edit": QueueFixture.recipe])
        #expect(try await q.queue.admit().admitted == 3)
        #expect(try await q.state(of: "a") == "ready")
        let dead = try await q.queue.dead(offset: 0, count: 5)
        #expect(dead.map(\.code) == [.internalError, .internalError])
        #expect(dead[0].message?.contains("batch bad") == true)
        // The doctor names both, and looks at the rest.
        let open = try await q.queue.diagnose(repair: true).open
        for batch in ["bad", "worse"] {
            #expect(
                open.contains { $0.kind == .recordIncomplete && $0.subject == batch }, "\(open)")
        }
        _ = try await q.queue.tend()
    }

    @Test func `members that were cancelled in the lane make no room in it`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe, "cap": "1"])
        _ = try await q.queue.admit()
        for asset in ["a", "b", "c", "d"] {
            try await q.addToBatchStream(of: "m", ["asset": asset])
        }
        #expect(
            try await q.queue.cancel(["m:2", "m:3"], reason: "no") == [.cancelled, .cancelled])
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await q.queue.claim(by: "a", count: 4).jobs.map(\.job) == ["m:0"])
    }

    @Test func `what is beyond a seal, or came after the end, is no member`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe, "seal": "1"])
        try await q.xadd(["batch": "n", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        for asset in ["a", "b"] { try await q.addToBatchStream(of: "m", ["asset": asset]) }
        let n = try BatchID("n")
        #expect(try await q.queue.cancel(n, reason: "no") == (.cancelled, open: 0))
        try await q.addToBatchStream(of: "n", ["asset": "c"])
        #expect(try await q.queue.cancel(["m:1", "n:0"], reason: "no") == [.unknown, .unknown])
        #expect(try await q.events().map(\.name) == ["completed"])
    }

    @Test func `a batch is not sealed at fewer jobs than it was given`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe])
        for asset in ["a", "b"] { try await q.addToBatchStream(of: "m", ["asset": asset]) }
        _ = try await q.queue.admit()
        try await q.addToBatchStream(of: "m", ["asset": "c"])
        for seal in ["2", "3"] { try await q.xadd(["batch": "m", "seal": seal]) }
        _ = try await q.queue.admit()
        for claim in try await q.queue.claim(by: "a", count: 3).jobs { try await q.finish(claim) }
        let events = try await q.events()
        #expect(
            events.map(\.name) == ["conflict", "completed", "completed", "completed", "completed"])
        guard case .batchCompleted(let data) = events.last?.data else {
            Issue.record("\(events)")
            return
        }
        #expect(data.jobs == 3)
    }
}

extension QueueFixture {
    /// What a producer adds to a batch: any fields.
    func addToBatchStream(of batch: String, _ fields: KeyValuePairs<String, String>) async throws {
        let words = fields.flatMap { [RedisArgument($0.key), RedisArgument($0.value)] }
        let stream = RedisArgument(queue.name.keys.batchStream(batch))
        _ = try await redis.send(["XADD", stream, "*"] + words)
    }
}
