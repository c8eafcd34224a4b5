import Edits
import Glibc
import Logging
import MinilabTesting
import Redis
import Synchronization
import Testing

@testable import JobQueue

@Suite("Heartbeat") struct HeartbeatTests {
    private func heartbeat(_ q: QueueFixture) -> Heartbeat {
        Heartbeat(
            queue: q.queue, redis: q.redis, worker: QueueFixture.worker,
            logger: Logger(label: "test"))
    }

    @Test func `a beat pushes the end of the lease out`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        let key = RedisArgument("\(q.queue.name.keys.prefix)lease")
        _ = try await q.redis.send(["ZADD", key, "1", "a"])
        let heartbeat = heartbeat(q)
        heartbeat.hold(claim.hold, since: .now) { _ in }
        await heartbeat.beat()
        let end = try await q.redis.send(["ZSCORE", key, "a"]).string.flatMap(Double.init)
        #expect(try #require(end) > 1_700_000_000_000)
    }

    @Test func `a job that somebody else took is lost at the next beat, once`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        let claim = try await q.claim()
        let losses = Mutex(0)
        var settings = QueueSettings()
        settings.lease = .seconds(30)
        let heartbeat = Heartbeat(
            queue: JobQueue(name: q.queue.name, redis: q.redis, settings: settings),
            redis: q.redis, worker: QueueFixture.worker,
            logger: Logger(label: "test"))
        heartbeat.hold(claim.hold, since: .now) { _ in
            losses.withLock { $0 += 1 }
        }
        _ = try await q.queue.reap(by: "other")
        await heartbeat.beat()
        await heartbeat.beat()
        #expect(losses.withLock { $0 } == 1)
    }

    @Test func `when Redis is silent for a lease, the job is lost by the local clock`() async throws
    {
        let server = try await RedisServer.start()
        var settings = QueueSettings()
        settings.lease = .seconds(1)
        let q = try await QueueFixture(on: server, settings: settings)
        try await q.admit("a")
        let claim = try await q.claim()
        let (lost, signal) = AsyncStream.makeStream(of: Void.self)
        let heartbeat = heartbeat(q)
        heartbeat.hold(claim.hold, since: .now) { _ in signal.yield() }
        server.kill(SIGKILL)
        let beating = Task { await heartbeat.run() }
        for await _ in lost { break }
        beating.cancel()
        server.stop()
    }

    @Test func `a lease ends by the local clock also while a beat hangs`() async throws {
        let server = try await RedisServer.start()
        var settings = QueueSettings()
        settings.lease = .seconds(1)
        let q = try await QueueFixture(on: server, settings: settings)
        try await q.admit("a")
        let claim = try await q.claim()
        let (lost, signal) = AsyncStream.makeStream(of: Void.self)
        let failures = Mutex(0)
        let heartbeat = Heartbeat(
            queue: q.queue, redis: q.redis, worker: QueueFixture.worker,
            logger: Logger(label: "test"),
            listener: { if case .failed = $0 { failures.withLock { $0 += 1 } } })
        server.kill(SIGSTOP)
        heartbeat.hold(claim.hold, since: .now) { _ in signal.yield() }
        let beating = Task { await heartbeat.run() }
        for await _ in lost { break }
        // The beat has neither been answered nor given up.
        #expect(failures.withLock { $0 } == 0)
        server.kill(SIGCONT)
        beating.cancel()
        server.stop()
    }

    @Test func `a worker that lost a job while it lived says so, and no crash stays counted`()
        async throws
    {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a", "b")
        let heartbeat = heartbeat(q)
        let first = try await q.claim()
        try await q.confirm(first)
        heartbeat.hold(first.hold, since: .now) { _ in }
        #expect(try await q.queue.reap(by: "other").ready == 1)
        #expect(try await q.queue.record(of: "a")?.crashes == 1)
        await heartbeat.beat()
        #expect(try await q.queue.record(of: "a")?.crashes == 0)
        // One that reap has not found yet is released, since the worker's own clock has ended it.
        let again = try await q.claim()
        heartbeat.hold(again.hold, since: .now) { _ in }
        await heartbeat.beat()
        await heartbeat.beat()
        #expect(try await q.state(of: "a") == "ready")
        #expect(try await q.queue.record(of: "a")?.crashes == 0)
    }

    @Test func `a claim is confirmed before the next regular beat`() async throws {
        var settings = QueueSettings()
        settings.lease = .seconds(3 * 3600)
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a")
        let claim = try await q.claim()
        let heartbeat = heartbeat(q)
        let beating = Task { await heartbeat.run() }
        heartbeat.hold(claim.hold, since: .now) { _ in }
        // A regular beat comes after an hour.
        try await eventually("the claim is confirmed") {
            try await q.field("confirmed", of: "job:a") == claim.fence ? () : nil
        }
        beating.cancel()
        await beating.value
    }

    @Test
    func `a worker says with each beat how short of memory it is, and one of before says nothing`()
        async throws
    {
        let q = try await QueueFixture()
        let pressure = Mutex<WorkerInfo.Pressure?>(
            WorkerInfo.Pressure(level: "pausing", paused: 1, reading: "9 MB are left"))
        let heartbeat = Heartbeat(
            queue: q.queue, redis: q.redis, worker: QueueFixture.worker,
            logger: Logger(label: "test"), pressure: { pressure.withLock { $0 } })
        await heartbeat.beat()
        let reported = try #require(try await q.queue.workers().first)
        #expect(reported.pressure == pressure.withLock { $0 })
        #expect(reported.slots == QueueFixture.worker.slots)
        pressure.withLock { $0 = nil }
        await heartbeat.beat()
        #expect(try await q.queue.workers().first?.pressure == nil)
        let info = RedisArgument("\(q.queue.name.keys.prefix)workers:info")
        let old = RedisArgument(
            #"{"name":"old","slots":1,"busy":0,"version":"0","startedAt":"2026-01-01T00:00:00Z"}"#)
        _ = try await q.redis.send(["HSET", info, "old", old])
        _ = try await q.redis.send([
            "ZADD", RedisArgument(q.queue.name.keys.workers), .init(try await q.queue.now()), "old",
        ])
        #expect(try await q.queue.workers().map(\.pressure) == [nil, nil])
    }

    @Test func `two living workers of one name are told apart from one that was started again`()
        async throws
    {
        let q = try await QueueFixture()
        func beat(_ start: String) async throws -> Bool {
            let info = WorkerInfo(name: "twin", slots: 1, version: "1", startedAt: start)
            return try await q.queue.beat([], by: info).isNameShared
        }
        func warnings() async throws -> [String] {
            try await q.queue.warnings().filter { $0.contains("has the name twin") }
        }
        let (first, second, third) = (
            "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z", "2026-01-01T00:00:09Z"
        )
        for start in [first, first, second, second, third, third] {
            #expect(try await beat(start) == false, "it was started again")
        }
        #expect(try await warnings().isEmpty)
        #expect(try await beat(second), "the second is still there")
        #expect(try await beat(third), "and so is the third")
        #expect(try await warnings().count == 1)
        try await q.queue.leave("twin")
        #expect(try await beat(second) == false)
        #expect(try await warnings().isEmpty)
    }

    /// A template of a service starts all of them in one second, and each beats in its turn.
    @Test(arguments: [2, 3, 12])
    func `living workers of one name are told, however many were started in one second`(
        count: Int
    ) async throws {
        let q = try await QueueFixture()
        let lines = (0..<count).map { _ in RecordedLines() }
        let beating = lines.map { lines in
            Heartbeat(
                queue: q.queue, redis: q.redis, worker: QueueFixture.worker, logger: lines.logger)
        }
        for one in beating {
            await one.beat()
            await one.beat()
        }
        // So far each may have taken the place of the one before.
        #expect(lines.flatMap(\.all) == [])
        #expect(try await q.queue.warnings().allSatisfy { !$0.contains("has the name a") })
        for one in beating { await one.beat() }
        #expect(lines.map(\.all.count) == lines.map { _ in 1 })
        #expect(try await q.queue.warnings().contains { $0.contains("has the name a") })
    }

    @Test func `a job that is let go is not beaten for`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        let claim = try await q.claim()
        let heartbeat = heartbeat(q)
        heartbeat.hold(claim.hold, since: .now) { _ in
            Issue.record("a job that was let go cannot be lost")
        }
        heartbeat.letGo(claim.hold)
        _ = try await q.queue.reap(by: "other")
        await heartbeat.beat()
    }
}
