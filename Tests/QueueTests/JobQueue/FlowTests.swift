import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Flows") struct FlowTests {
    @Test(arguments: [1, 7, 50])
    func `tenants have shares of the work by their weights, within 5 percent`(
        atOnce: Int
    ) async throws {
        let q = try await QueueFixture()
        try await q.queue.set([.weight(try JobID("acme"), 3)])
        try await q.admit(1000, ["tenant": "acme", "cost": "100"])
        try await q.admit(1000, ["tenant": "zoo", "cost": "100"])
        let claims = try await q.claim(1000, atOnce: atOnce)
        let acme = claims.count { $0.tenant == "acme" }
        #expect(claims.count == 1000)
        #expect(abs(acme - 750) <= 37, "\(acme)")
        try await q.expectHealthy()
    }

    @Test func `who sends dear jobs gets fewer of them, and the same time of workers`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit(1000, ["tenant": "acme", "cost": "100"])
        try await q.admit(1000, ["tenant": "zoo", "cost": "400"])
        let claims = try await q.claim(1000)
        let acme = claims.count { $0.tenant == "acme" }
        #expect(abs(acme - 800) <= 40, "\(acme)")
    }

    @Test func `costs and weights together decide the shares`() async throws {
        let q = try await QueueFixture()
        try await q.queue.set([.weight(try JobID("acme"), 2)])
        try await q.admit(1000, ["tenant": "acme", "cost": "300"])
        try await q.admit(1000, ["tenant": "zoo", "cost": "100"])
        // 2/300 against 1/100: two of five.
        let acme = try await q.claim(1000).count { $0.tenant == "acme" }
        #expect(abs(acme - 400) <= 20, "\(acme)")
    }

    /// Ends a claimed job that was claimed so many seconds ago.
    private func finish(_ claim: Claim, after seconds: Int64, _ q: QueueFixture) async throws {
        let now = try #require(try await q.redis.send(["TIME"]).array?.first?.int)
        try await q.harm([
            "HSET job:\(claim.job) claimed \((now - seconds) * 1000) since \((now - seconds) * 1000)"
        ])
        try await q.finish(claim)
    }

    @Test(arguments: ["1", "86400000", ""])
    func `who lies about costs gains nothing over a hundred jobs`(cost: String) async throws {
        let q = try await QueueFixture()
        try await q.admit(
            150, cost.isEmpty ? ["tenant": "liar"] : ["tenant": "liar", "cost": cost])
        try await q.admit(150, ["tenant": "zoo", "cost": "1000"])
        var time = ["liar": 0, "zoo": 0]
        for _ in 0..<50 {
            for claim in try await q.claim(2, atOnce: 2) {
                // Each takes a second, whatever was said.
                try await finish(claim, after: 1, q)
                time[claim.tenant, default: 0] += 1
            }
        }
        #expect(time["liar"] ?? 0 <= 53, "\(time)")
        if cost != "86400000" { #expect(time["liar"] ?? 0 >= 47, "\(time)") }
        try await q.expectHealthy()
    }

    @Test func `a tenant owes for what it sent one by one, too`() async throws {
        let q = try await QueueFixture()
        try await q.admit(100, ["tenant": "zoo", "cost": "1000"])
        var liars = 0
        let ready = RedisArgument("\(q.queue.name.keys.prefix)ready:normal:liar")
        for _ in 0..<40 {
            // Its flow is empty whenever its job runs.
            if try await q.redis.send(["EXISTS", ready]).int == 0 {
                try await q.admit(1, ["tenant": "liar", "cost": "1"])
            }
            let claim = try await q.claim()
            if claim.tenant == "liar" { liars += 1 }
            try await finish(claim, after: 1, q)
        }
        #expect((18...22).contains(liars), "\(liars)")
    }

    @Test func `a tenant that comes new is served next, whatever others have queued`() async throws
    {
        let q = try await QueueFixture()
        try await q.admit(500, ["tenant": "acme", "cost": "100"])
        _ = try await q.claim(100)
        try await q.admit(3, ["tenant": "zoo", "cost": "100"])
        let next = try await q.claim(4, atOnce: 1).map(\.tenant)
        #expect(next.prefix(2).contains("zoo"), "\(next)")
        #expect(next.count { $0 == "zoo" } == 2, "not all at once either: \(next)")
    }

    @Test func `a tenant that was idle has saved nothing up, and one that left owes what it used`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit(10, ["tenant": "acme", "cost": "100"])
        try await q.admit(100, ["tenant": "zoo", "cost": "100"])
        // acme is done with its ten; zoo goes on alone.
        _ = try await q.claim(100)
        try await q.admit(20, ["tenant": "acme", "cost": "100"])
        let next = try await q.claim(10, atOnce: 1).count { $0.tenant == "acme" }
        #expect((4...6).contains(next), "\(next)")
    }

    @Test func `of 16 turns normal jobs have 3 and bulk jobs 2, however many urgent ones wait`()
        async throws
    {
        let q = try await QueueFixture()
        for priority in ["interactive", "normal", "bulk"] {
            try await q.admit(200, ["priority": priority, "tenant": priority])
        }
        let claims = try await q.claim(160)
        func share(_ tenant: String) -> Int { claims.count { $0.tenant == tenant } }
        #expect(share("normal") == 30)
        #expect(share("bulk") == 20)
        #expect(share("interactive") == 110)
    }

    @Test func `what a priority does not use of its share others get, the most urgent first`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit(40, ["priority": "bulk", "tenant": "bulk"])
        try await q.admit(3, ["priority": "normal", "tenant": "normal"])
        let claims = try await q.claim(43)
        #expect(claims.prefix(8).count { $0.tenant == "normal" } == 3)
        #expect(claims.count == 43)
    }

    @Test(arguments: [1, 3, 8])
    func `a cap holds exactly, over workers and priorities`(cap: Int) async throws {
        let q = try await QueueFixture()
        try await q.queue.set([.cap(try JobID("acme"), cap)])
        for priority in ["interactive", "normal", "bulk"] {
            try await q.admit(10, ["tenant": "acme", "priority": priority])
        }
        try await q.admit(2, ["tenant": "zoo"])
        var held = try await q.claim(30, atOnce: 4)
        #expect(held.count { $0.tenant == "acme" } == cap)
        #expect(held.count { $0.tenant == "zoo" } == 2)
        try await q.expectHealthy()
        // Each way out makes room for one.
        for end in 0..<4 {
            let index = try #require(held.firstIndex { $0.tenant == "acme" })
            let claim = held.remove(at: index)
            switch end {
            case 0: try await q.finish(claim)
            case 1: try await q.bury(claim)
            case 2: _ = try await q.queue.release(job: claim.job, fence: claim.fence, .shutdown)
            default:
                _ = try await q.queue.fail(claim, by: "w", Failure(.ioFailure, "x"), random: 1)
            }
            let next = try await q.claim(30, atOnce: 4)
            #expect(next.count == 1)
            held += next
            try await q.expectHealthy()
        }
    }

    @Test func `a cap that is raised, lowered, or taken away holds at once`() async throws {
        let q = try await QueueFixture()
        let acme = try JobID("acme")
        try await q.queue.set([.cap(acme, 0)])
        try await q.admit(20, ["tenant": "acme"])
        #expect(try await q.claim(20).isEmpty)
        try await q.queue.set([.cap(acme, 3)])
        var held = try await q.claim(20)
        #expect(held.count == 3)
        try await q.queue.set([.cap(acme, 1)])
        try await q.finish(held.removeLast())
        try await q.finish(held.removeLast())
        #expect(try await q.claim(20).isEmpty)
        try await q.queue.set([.cap(acme, nil), .cap(nil, 5)])
        #expect(try await q.claim(20).count == 4)
        try await q.queue.set([.cap(nil, nil)])
        #expect(try await q.claim(20).count == 13)
        try await q.expectHealthy()
    }

    @Test func `an urgent job lifts all that its asset makes it wait for`() async throws {
        let q = try await QueueFixture()
        try await q.admit(100, ["tenant": "zoo", "priority": "interactive", "cost": "1000000"])
        for (id, priority) in [("1", "bulk"), ("2", "bulk"), ("3", "normal"), ("4", "interactive")]
        {
            try await q.xadd([
                "id": id, "asset": "photo", "edit": QueueFixture.recipe, "priority": priority,
                "cost": "1000000",
            ])
        }
        try await q.xadd([
            "id": "5", "asset": "photo", "edit": QueueFixture.recipe, "priority": "bulk",
        ])
        _ = try await q.queue.admit()
        for id in ["1", "2", "3", "4"] {
            #expect(try await q.queue.record(of: id)?.priority == "interactive", "job \(id)")
        }
        #expect(try await q.queue.record(of: "5")?.priority == "bulk")
        for id in ["1", "2", "3", "4"] {
            let some = try await q.claim(3, atOnce: 1)
            let claim = try #require(some.first { $0.job == id }, "\(some.map(\.job))")
            try await q.finish(claim)
        }
        try await q.expectHealthy()
    }

    @Test func `a paused queue gives nothing and loses nothing`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.queue.set([.paused("disk is full")])
        #expect(try await q.claim(1).isEmpty)
        #expect(try await q.queue.status().paused == "disk is full")
        try await q.queue.set([.paused(nil)])
        #expect(try await q.claim(1).count == 1)
    }
}
