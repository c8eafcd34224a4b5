import Edits
import Redis
import Testing

@testable import JobQueue

/// A list shows the newest batches. Whatever is decided about batches is decided about all.
@Suite("An old batch behind more newer ones than a list shows") struct ManyBatchesTests {
    private static let newerCount = JobQueue.batchesListedMax + 200

    /// Makes batches that were opened at one moment, some time after all that there are.
    private func addNewer(
        _ count: Int = newerCount, tenant: String = "other", areEnded: Bool, _ q: QueueFixture
    ) async throws {
        let source = """
            local P, opened = ARGV[1], string.format('%d', redis.call('TIME')[1] * 1000 + 2000)
            for i = 1, tonumber(ARGV[2]) do
              local batch = ARGV[3] .. '.newer' .. i
              redis.call('HSET', P .. 'batch:' .. batch, 'tenant', ARGV[3], 'priority', 'bulk', 'generation', '1',
                'finished', ARGV[4], 'admitted', '0', 'opened', opened)
              if ARGV[4] == '1' then redis.call('HSET', P .. 'batch:' .. batch, 'sealed', '0', 'ended', opened) end
              redis.call('ZADD', P .. 'batches', opened, batch)
            end
            """
        _ = try await q.redis.send([
            "EVAL", RedisArgument(source), "0", RedisArgument(q.queue.name.keys.prefix),
            RedisArgument(count), RedisArgument(tenant), areEnded ? "1" : "0",
        ])
    }

    private func open(_ name: String, tenant: String, jobs: Int, _ q: QueueFixture) async throws {
        let batch = try BatchID(name)
        var scheduling = Scheduling()
        scheduling.tenant = try JobID(tenant)
        try await q.queue.open(
            BatchRequest(
                id: batch, edit: try Edit(json: QueueFixture.recipe), scheduling: scheduling))
        let members = try (0..<jobs).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }
        _ = try await q.queue.add(members, to: batch, from: 0)
        try await q.queue.seal(batch, jobs: jobs, cost: 100_000)
        _ = try await q.queue.admit()
    }

    @Test(arguments: [true, false])
    func `is work, and workers are asked for it`(areEnded: Bool) async throws {
        var settings = QueueSettings()
        settings.window = 10
        let q = try await QueueFixture(settings: settings)
        try await open("old", tenant: "acme", jobs: 300, q)
        try await addNewer(areEnded: areEnded, q)
        let work = try await q.queue.waitingWork(q.queue.status(), within: .seconds(600))
        #expect(work.parts.reduce(0) { $0 + $1.jobs } == 300, "\(work.parts)")
        #expect(work.seconds(within: .seconds(600)) == 100)
        var target = ScaleTarget()
        (target.within, target.minWorkers) = (10, 0)
        #expect(try await q.queue.scaleAdvice(target).workers == 5)
    }

    @Test func `is not work while its tenant is paused`() async throws {
        let q = try await QueueFixture()
        try await open("old", tenant: "acme", jobs: 30, q)
        try await addNewer(areEnded: true, q)
        try await q.queue.set([.cap(try JobID("acme"), 0)])
        var target = ScaleTarget()
        target.minWorkers = 0
        #expect(try await q.queue.scaleAdvice(target).workers == 0)
    }

    @Test func `is among those that are open, and is listed to its tenant`() async throws {
        let q = try await QueueFixture()
        try await open("acme.old", tenant: "acme", jobs: 3, q)
        try await addNewer(areEnded: false, q)
        #expect(try await q.queue.openBatches().count == Self.newerCount + 1)
        #expect(try await q.queue.openBatches().last?.batch == "acme.old")
        let newest = try await q.queue.batches(.open, count: 20)
        #expect(newest.records.count == 20 && newest.more == Self.newerCount - 19)
        let all = try await q.queue.batches(count: 1)
        #expect(all.records.first?.tenant == "other" && all.more == Self.newerCount)
        let own = Reach(tenant: "acme", folder: "")
        for part in [BatchList.Part.all, .open] {
            let list = try await q.queue.batches(part, within: own, count: 20)
            #expect(list.records.map(\.batch) == ["acme.old"] && list.more == 0)
        }
        #expect(try await q.queue.batches(.ended, within: own, count: 20).records.isEmpty)
        _ = try await q.queue.cancelWhole(BatchID("acme.old"), reason: "no more")
        let ended = try await q.queue.batches(.ended, count: 20)
        #expect(ended.records.map(\.batch) == ["acme.old"] && ended.more == 0)
    }

    @Test func `is found for its tenant in short steps, however many others have`() async throws {
        let q = try await QueueFixture()
        try await open("acme.old", tenant: "acme", jobs: 3, q)
        try await addNewer(areEnded: false, q)
        var reader = BatchReader(q.queue, within: Reach(tenant: "acme", folder: ""), count: 20)
        var (list, steps) = (try await reader.next(), 1)
        while list == nil {
            list = try await reader.next()
            steps += 1
        }
        #expect(list?.records.map(\.batch) == ["acme.old"] && list?.more == 0)
        #expect(steps > Self.newerCount / BatchReader.namesStep)
    }

    @Test func `stays in the list when batches before it go while it is read`() async throws {
        let q = try await QueueFixture()
        try await addNewer(3, tenant: "a", areEnded: false, q)
        let key = q.queue.name.keys.batches
        let first = try await q.queue.members(
            of: key, after: ScoredMember(name: "", score: 0), until: .max, count: 2)
        #expect(first.map(\.name) == ["a.newer1", "a.newer2"])
        _ = try await q.redis.send(["ZREM", RedisArgument(key), "a.newer1", "a.newer2"])
        let rest = try await q.queue.members(
            of: key, after: try #require(first.last), until: .max, count: 2)
        #expect(rest.map(\.name) == ["a.newer3"])
        #expect(
            try await q.queue.members(
                of: key, after: try #require(rest.last), until: .max, count: 2
            ).isEmpty)
    }
}
