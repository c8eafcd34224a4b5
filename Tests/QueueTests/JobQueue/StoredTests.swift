import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// The bytes of Redis that each tenant takes. The model and `SubmitLifeTests` compare them with what is stored after any commands.
@Suite("Bytes of tenants") struct StoredTests {
    private static let large = QueueFixture.recipe + String(repeating: " ", count: 5000)
    private let acme: JobID

    init() throws { acme = try JobID("acme") }

    private func stored(_ q: QueueFixture) async throws -> Int {
        try await q.expectHealthy()
        return try await q.queue.stored(by: acme)
    }

    private func batch(_ name: String, cap: Int? = nil) throws -> BatchRequest {
        var scheduling = Scheduling()
        scheduling.tenant = acme
        return BatchRequest(
            id: try BatchID(name), edit: try Edit(json: QueueFixture.recipe),
            scheduling: scheduling, cap: cap)
    }

    private func openBatch(_ q: QueueFixture, _ name: String, cap: Int? = nil) async throws {
        #expect(
            try await q.queue.submit(batch(name, cap: cap), folder: nil, backlogMax: nil)
                == .created)
    }

    private func members(_ count: Int, edit: String? = nil) throws -> [JobQueue.Member] {
        try (0..<count).map { .init(asset: try AssetPath("p\($0)"), canonicalEdit: edit) }
    }

    @Test func `a job counts from its submission until it is done, also while it is dead`()
        async throws
    {
        let q = try await QueueFixture()
        #expect(try await stored(q) == 0)
        _ = try await q.queue.submit(SubmitTests.request("a", tenant: "acme"), backlogMax: nil)
        let sent = try await stored(q)
        #expect(sent > 0)
        _ = try await q.queue.admit()
        let ready = try await stored(q)
        #expect(ready > 450)
        try await q.bury(try await q.claim())
        #expect(try await stored(q) == ready)
        // Another edit takes another number of bytes.
        #expect(
            try await q.queue.replay(["a"], with: Edit(json: SubmitTests.other)) == [.replayed])
        #expect(try await stored(q) != ready)
        try await q.finish(try await q.claim())
        #expect(try await stored(q) == 0)
    }

    @Test func `a tenant whose jobs are all done is refused no other, and sends none twice`()
        async throws
    {
        let q = try await QueueFixture()
        for number in 1...20 {
            let request = try SubmitTests.request("j\(number)", tenant: "acme")
            guard
                case .accepted = try await q.queue.submit(
                    request, backlogMax: nil, storedMax: 1000)
            else { return #expect(Bool(false), "job \(number)") }
            _ = try await q.queue.admit()
            try await q.finish(try await q.claim())
        }
        #expect(
            try await q.queue.submit(
                SubmitTests.request("j1", tenant: "acme"), backlogMax: nil, storedMax: 1000)
                == .same(.done))
        #expect(try await stored(q) == 0)
    }

    @Test func `a large edit counts until its job is done, and a plain entry from its admission`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "a", "asset": "p", "edit": .init(Self.large), "tenant": "acme",
        ])
        #expect(try await stored(q) == 0)
        _ = try await q.queue.admit()
        #expect(try await stored(q) > 5000)
        try await q.finish(try await q.claim())
        #expect(try await stored(q) == 0)
    }

    @Test func `the bytes of entries that are cancelled, or go with their batch, are taken off`()
        async throws
    {
        let q = try await QueueFixture()
        _ = try await q.queue.submit(SubmitTests.request("a", tenant: "acme"), backlogMax: nil)
        _ = try await q.queue.cancel(["a"], reason: "no")
        #expect(try await stored(q) == 0)
        _ = try await q.queue.admit()
        try await openBatch(q, "m", cap: 1)
        let before = try await stored(q)
        let batch = try BatchID("m")
        #expect(try await q.queue.add(members(10, edit: "{}"), to: batch, from: 0) == .added(10))
        #expect(try await q.queue.add(members(10, edit: "{}"), to: batch, from: 0) == .added(0))
        // The first one leaves the stream at once, so it counts as a job.
        #expect(try await stored(q) == before + 9 * (23 + 2 + 2) + 454)
        _ = try await q.queue.admit()
        #expect(try await stored(q) == before + 9 * 27 + 454)
        _ = try await q.queue.cancel(["m:5"], reason: "no")
        _ = try await q.queue.cancel(batch, reason: "no")
        #expect(try await stored(q) == before)
    }

    @Test func `a tenant at its limit is refused by each door, and has room when it has less`()
        async throws
    {
        let q = try await QueueFixture()
        try await openBatch(q, "m")
        let batch = try BatchID("m")
        let has = try await q.queue.stored(by: acme)
        let limits = JobQueue.MemberLimits(storedMax: has + 1000, mustBeOpen: true)
        let many = try members(100, edit: Self.large)
        #expect(
            try await q.queue.add(many, to: batch, from: 0, within: limits)
                == .overBytes(stored: has, max: has + 1000))
        #expect(
            try await q.queue.submit(
                SubmitTests.request("a", tenant: "acme"), backlogMax: nil, storedMax: has + 9)
                == .overBytes(stored: has, max: has + 9))
        #expect(
            try await q.queue.submit(
                self.batch("n"), folder: nil, backlogMax: nil, storedMax: has + 9)
                == .overBytes(stored: has, max: has + 9))
        // Another tenant is not at its limit.
        guard
            case .accepted = try await q.queue.submit(
                SubmitTests.request("b", tenant: "zoo"), backlogMax: nil, storedMax: has + 9)
        else { return #expect(Bool(false)) }
        // A batch that nobody opened counts for nobody, so a tenant cannot fill one.
        #expect(
            try await q.queue.add(
                members(1), to: BatchID("never"), from: 0, within: limits) == .notOpen)
        #expect(try await q.queue.add(members(1), to: batch, from: 0, within: limits) == .added(1))
    }

    @Test func `members that a tenant may send take no more when they become jobs`() async throws {
        let q = try await QueueFixture()
        let limits = JobQueue.MemberLimits(storedMax: 100_000, mustBeOpen: true)
        var accepted = 0
        for number in 0..<20 {
            try await openBatch(q, "b\(number)")
            guard
                case .added = try await q.queue.add(
                    members(50), to: BatchID("b\(number)"), from: 0, within: limits)
            else { break }
            accepted += 1
        }
        #expect((2..<20).contains(accepted))
        // No worker lived meanwhile.
        let sent = try await q.queue.stored(by: acme)
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await stored(q) == sent)
        #expect(try await q.queue.status()[.lane] == 0)
    }

    @Test func `a batch counts as jobs the members that leave its stream at once`() async throws {
        let q = try await QueueFixture()
        try await openBatch(q, "m")
        let batch = try BatchID("m")
        let before = try await stored(q)
        // The asset of each has one byte.
        let members = try (0..<1500).map { _ in
            JobQueue.Member(asset: try AssetPath("p"), canonicalEdit: nil)
        }
        for first in stride(from: 0, to: 1500, by: 500) {
            #expect(
                try await q.queue.add(
                    Array(members[first..<first + 500]), to: batch, from: first) == .added(500))
        }
        #expect(try await q.queue.stored(by: acme) == before + 1000 * 451 + 500 * 24)
    }

    @Test func `jobs that a tenant may send take no more when they are admitted`() async throws {
        let q = try await QueueFixture()
        var accepted = 0
        for number in 0..<40 {
            let answer = try await q.queue.submit(
                SubmitTests.request("j\(number)", tenant: "acme"), backlogMax: nil,
                storedMax: 10_000)
            guard case .accepted = answer else { break }
            accepted += 1
        }
        #expect((2..<40).contains(accepted))
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await stored(q) <= 10_000)
    }

    @Test func `producers together leave a share of Redis to those who end jobs`() async throws {
        var settings = QueueSettings()
        settings.storedBytesMax = 6000
        let q = try await QueueFixture(settings: settings)
        var accepted = 0
        let error = await #expect(throws: QueueError.self) { () async throws in
            for number in 0..<100 {
                _ = try await q.queue.submit(
                    SubmitTests.request("j\(number)", tenant: "t\(number)"), backlogMax: nil)
                accepted += 1
            }
        }
        #expect(error?.code == .shareUsed && accepted > 5)
        try await q.runToTheEnd()
        try await q.expectHealthy()
    }

    @Test func `the doctor finds bytes that are miscounted and corrects them`() async throws {
        let q = try await QueueFixture()
        try await openBatch(q, "m")
        _ = try await q.queue.submit(SubmitTests.request("a", tenant: "acme"), backlogMax: nil)
        let right = try await stored(q)
        try await q.harm(["HINCRBY stored acme 77", "HSET stored ghost 5"])
        let open = try await q.queue.diagnose().open
        #expect(open.allSatisfy { $0.kind == .storedMiscounted })
        #expect(open.map(\.subject).sorted() == ["acme", "all", "ghost"])
        #expect(try await q.queue.diagnose(repair: true).open == [])
        #expect(try await stored(q) == right)
    }

    @Test func `operators act on a queue whose Redis is full`() async throws {
        let server = try await RedisServer.start()
        let q = try await QueueFixture(on: server)
        try await q.admit("a", "b")
        for claim in try await q.claim(2) { try await q.bury(claim) }
        let moved = try await q.queue.spilled(["b"])
        _ = try await q.queue.removeDead([("b", 1)], writtenTo: "/f")
        try await q.prepareStuck()
        _ = try await q.redis.send(["CONFIG", "SET", "maxmemory", "1"])
        #expect(try await q.queue.replay(["a", "stuck"]) == [.replayed, .replayed])
        #expect(try await q.queue.restore(try #require(moved.first)) == .replayed)
        #expect(try await q.queue.cancel(["b"], reason: "no") == [.cancelled])
        server.stop()
    }

    @Test func `dead jobs that cannot be moved keep no others in Redis`() async throws {
        var settings = QueueSettings()
        settings.deadMax = 0
        let q = try await QueueFixture(settings: settings)
        try await q.admit("later", "a")
        for claim in try await q.claim(2) { try await q.bury(claim) }
        try await q.harm(["HSET job:later format 99", "ZADD dead 1 later"])
        // Redis has lost the records of as many as a step moves.
        let lost = (0..<JobQueue.spillMax).map { "2 lost\($0)" }.joined(separator: " ")
        try await q.harm(["ZADD dead \(lost)"])
        #expect(try await q.queue.surplusDead().map(\.job) == ["a"])
        _ = try await q.queue.removeDead([("a", 1)], writtenTo: "/f")
        #expect(try await q.queue.surplusDead().isEmpty)
        #expect(
            try await q.redis.send(["ZCARD", RedisArgument(q.queue.name.keys.dead)]).int == 1)
    }
}

extension QueueFixture {
    /// Lets the publication of a job `stuck` fail until it is stuck.
    fileprivate func prepareStuck() async throws {
        try await admit("stuck")
        let claim = try await claim()
        _ = try await queue.commit(claim, event(claim), isDraft: false)
        var settings = queue.settings
        settings.carriesMax = 0
        _ = try await JobQueue(name: queue.name, redis: redis, settings: settings).handOn(
            job: "stuck", fence: claim.fence, by: "w", Failure(.ioFailure, "no disk"), carries: 0,
            random: 0)
    }
}
