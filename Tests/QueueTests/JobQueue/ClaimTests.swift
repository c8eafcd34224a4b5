import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Claim") struct ClaimTests {
    @Test func `jobs are claimed in the order of admission`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c")
        let jobs = try await q.queue.claim(by: "w", count: 2).jobs
        #expect(jobs.map(\.job) == ["a", "b"])
        #expect(try await q.claim().job == "c")
    }

    @Test func `a job is given to one worker only`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        _ = try await q.claim(by: "one")
        #expect(try await q.queue.claim(by: "two", count: 5).jobs.isEmpty)
    }

    @Test func `each claim of a job has a greater fence`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        var last = 0
        for _ in 0..<5 {
            let claim = try await q.claim()
            let fence = try #require(Int(claim.fence))
            #expect(fence > last)
            last = fence
            _ = try await q.queue.release(job: "a", fence: claim.fence, .shutdown)
        }
    }

    @Test func `a second job of a busy asset waits and holds nobody else up`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["id": "1", "asset": "same", "edit": QueueFixture.recipe])
        try await q.xadd(["id": "2", "asset": "same", "edit": QueueFixture.recipe])
        try await q.xadd(["id": "3", "asset": "same", "edit": QueueFixture.recipe])
        try await q.xadd(["id": "4", "asset": "other", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()

        let first = try await q.queue.claim(by: "w", count: 4).jobs
        #expect(first.map(\.job) == ["1", "4"])
        #expect(try await q.queue.status()[.parked] == 2)
        try await q.finish(first[0])
        let second = try await q.queue.claim(by: "w", count: 4).jobs
        #expect(second.map(\.job) == ["2"])
        try await q.finish(second[0])
        #expect(try await q.claim().job == "3")
        #expect(try await q.queue.status()[.parked] == 0)
    }

    @Test(arguments: ["fail", "release", "reap"])
    func `a job that will be tried again keeps its asset, so no later edit overtakes it`(
        end: String
    ) async throws {
        let q = try await QueueFixture(
            settings: end == "reap" ? QueueFixture.expiredAtOnce : QueueSettings())
        try await q.xadd(["id": "1", "asset": "same", "edit": QueueFixture.recipe])
        try await q.xadd(["id": "2", "asset": "same", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let claim = try #require(try await q.queue.claim(by: "w", count: 2).jobs.first)
        switch end {
        case "fail":
            _ = try await q.queue.fail(claim, by: "w", Failure(.ioFailure, ""), random: 0)
        case "release":
            _ = try await q.queue.release(job: "1", fence: claim.fence, .shutdown)
        default:
            _ = try await q.queue.reap(by: "other")
        }
        #expect(try await q.state(of: "2") == "parked")
        #expect(try await q.claim().job == "1")
    }

    @Test func `a dead job leaves its asset to the next one`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["id": "1", "asset": "same", "edit": QueueFixture.recipe])
        try await q.xadd(["id": "2", "asset": "same", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        _ = try await q.queue.fail(q.claim(), by: "w", Failure(.missingAsset, ""), random: 1)
        #expect(try await q.queue.status()[.parked] == 0)
        #expect(try await q.claim().job == "2")
    }

    @Test func `a delayed job is claimed when it is due and not before`() async throws {
        var settings = QueueSettings()
        settings.retry.base = .seconds(100)
        let q = try await QueueFixture(settings: settings)
        try await q.admit("soon", "late")
        for (claim, random) in zip(try await q.queue.claim(by: "w", count: 2).jobs, [0.0, 1.0]) {
            _ = try await q.queue.fail(claim, by: "w", Failure(.ioFailure, ""), random: random)
        }
        #expect(try await q.queue.promote() == 1)
        #expect(try await q.queue.claim(by: "w", count: 2).jobs.map(\.job) == ["soon"])
        let due = try #require(try await q.queue.admit().next)
        #expect(due > .zero && due <= .seconds(100))
    }

    @Test func `a job that is passed over lets the next one of its asset be given at once`()
        async throws
    {
        let q = try await QueueFixture()
        let (edit, past) = (QueueFixture.recipe, "2001-01-01T00:00:00Z")
        // The sixth turn is that of bulk jobs, of which there is none until the late job is ended.
        try await q.admit("1", "2", "3", "4", "5")
        #expect(try await q.queue.claim(by: "w", count: 5).jobs.count == 5)
        try await q.xadd(["id": "late", "asset": "a", "edit": edit, "deadline": past])
        try await q.xadd(["id": "next", "asset": "a", "edit": edit, "priority": "bulk"])
        _ = try await q.queue.admit()
        #expect(try await q.claim().job == "next")
        #expect(try await q.state(of: "late") == "dead")
    }

    @Test func `virtual time does not go back for a tenant whose job was parked`() async throws {
        let q = try await QueueFixture()
        let (edit, past) = (QueueFixture.recipe, "2001-01-01T00:00:00Z")
        try await q.xadd(["asset": "x", "edit": edit, "cost": "1000"])
        try await q.xadd(["asset": "y", "edit": edit, "cost": "1000"])
        try await q.xadd(["asset": "z", "edit": edit, "cost": "1000", "deadline": past])
        try await q.xadd(["asset": "z", "edit": edit, "cost": "1000", "tenant": "new"])
        _ = try await q.queue.admit()
        #expect(try await q.queue.claim(by: "a", count: 3).jobs.map(\.asset) == ["x", "y", "z"])
        let virtual = try await q.redis.send([
            "HGET", "\(q.queue.name.keys.prefix)virtual", "normal",
        ])
        #expect(virtual.int == 1_000_000)
    }

    @Test func `a job that was delayed is as urgent as those that wait behind it`() async throws {
        let q = try await QueueFixture()
        let (edit, later) = (QueueFixture.recipe, "2100-01-01T00:00:00Z")
        try await q.xadd([
            "id": "first", "asset": "a", "edit": edit, "priority": "bulk", "notBefore": later,
        ])
        try await q.xadd(["id": "held", "asset": "a", "edit": edit, "priority": "interactive"])
        try await q.xadd(["id": "urgent", "asset": "a", "edit": edit, "priority": "interactive"])
        _ = try await q.queue.admit()
        let held = try await q.claim()
        _ = try await q.redis.send([
            "ZADD", "\(q.queue.name.keys.prefix)delayed", "XX", "1", "first",
        ])
        #expect(try await q.queue.promote() == 1)
        #expect(try await q.queue.claim(by: "w", count: 1).jobs.isEmpty)
        try await q.admit("other")
        try await q.finish(held)
        #expect(try await q.claim().job == "first")
    }

    @Test func `an urgent job that is due does not wait for turns of others that are due`()
        async throws
    {
        var settings = QueueSettings()
        (settings.promotionsMax, settings.promotesMax) = (3, 2)
        let q = try await QueueFixture(settings: settings)
        let later = "2100-01-01T00:00:00Z"
        for number in 1...10 {
            try await q.xadd([
                "id": "\(number)", "asset": "\(number)", "edit": QueueFixture.recipe,
                "notBefore": later, "priority": number == 10 ? "interactive" : "bulk",
            ])
        }
        _ = try await q.queue.admit()
        try await q.harm((1...10).map { "ZADD delayed XX \($0) \($0)" })
        // A call of admission promotes a bounded number, and says that it did, so that it is called again.
        #expect(try await q.queue.admit().admitted == 6)
        #expect(try await q.queue.admit().admitted == 4)
        #expect(try await q.queue.admit().admitted == 0)
        #expect(try await q.claim().job == "10")
    }

    @Test func `jobs of a later format that are due keep no others back`() async throws {
        var settings = QueueSettings()
        (settings.promotionsMax, settings.promotesMax) = (2, 1)
        let q = try await QueueFixture(settings: settings)
        for number in 1...6 {
            try await q.xadd([
                "id": "\(number)", "asset": "\(number)", "edit": QueueFixture.recipe,
                "notBefore": "2100-01-01T00:00:00Z",
            ])
        }
        _ = try await q.queue.admit()
        try await q.harm((1...6).map { "ZADD delayed XX \($0) \($0)" })
        try await q.harm((1...5).map { "HSET job:\($0) format 99" })
        var promoted: [Int] = []
        for _ in 1...3 { promoted.append(try await q.queue.promote()) }
        #expect(promoted == [0, 0, 1])
        // Nothing more can be done now: the next look is not at once.
        let admission = try await q.queue.admit()
        #expect(admission.admitted == 0 && admission.next ?? .zero > .seconds(10))
        #expect(try await q.claim().job == "6")
    }
}
