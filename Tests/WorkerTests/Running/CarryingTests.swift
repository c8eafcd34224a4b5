import Edits
import JobQueue
import Library
import Logging
import MinilabTesting
import Redis
import ServiceLifecycle
import SystemPackage
import Testing

@testable import RenderPool
@testable import Worker

@Suite("Publications that a worker carries on", .timeLimit(.minutes(10))) struct CarryingTests {
    /// Publications that wait until a test lets them go on.
    private actor Gate {
        private(set) var begun: [String] = []
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func pass(_ job: String) async {
            begun.append(job)
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        }

        func open() {
            isOpen = true
            for waiter in waiting { waiter.resume() }
            waiting = []
        }
    }

    private func key(_ f: RunnerFixture, _ name: String) -> RedisArgument {
        RedisArgument(f.queue.name.keys.ingress.dropLast(2) + name)
    }

    /// When the lease of a job ends, in ms since 1970; 0: nobody holds it.
    private func leaseEnd(_ f: RunnerFixture, _ job: String) async throws -> Double {
        let score = try await f.redis.send(["ZSCORE", key(f, "lease"), RedisArgument(job)]).string
        return score.flatMap { Double($0) } ?? 0
    }

    /// Runs a worker while a test does something.
    private func whileWorking(
        _ f: RunnerFixture, _ handler: FakeHandler, _ body: () async throws -> Void
    ) async throws {
        var settings = WorkerSettings(name: "w", renderExecutable: "/none")
        settings.rendering.slots = 2
        let logger = Logger(label: "test")
        let clients = f.clients(4)
        let worker = Worker(
            queue: f.queue, handler: handler, ingressReads: clients[0], wakeReads: clients[1],
            controlReads: clients[2],
            heartbeat: Heartbeat(
                queue: f.queue, redis: clients[3], worker: WorkerInfo(settings), logger: logger),
            settings: settings, logger: logger)
        let group = ServiceGroup(services: [worker], logger: logger)
        let running = Task { try await group.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await running.value
        for client in clients { await client.close() }
        try result.get()
    }

    @Test func `are all held from the start, and the upkeep does not wait for them`() async throws {
        let f = try await RunnerFixture { $0.lease = .seconds(1) }
        let jobs = ["a", "b", "c"]
        for job in jobs {
            let claim = try await f.claim(job)
            _ = try await f.queue.commit(claim, .made(claim), isDraft: false)
            _ = try await f.redis.send(["ZADD", key(f, "lease"), "XX", "0", RedisArgument(job)])
        }
        let gate = Gate()
        let handler = FakeHandler(publish: { version async throws(Failure) in
            await gate.pass(version.job)
            return .published
        })
        try await whileWorking(f, handler) {
            while await gate.begun.count < 2 { await Task.yield() }
            // For four leases, longer than a duty lasts without its holder's turns.
            let first = try await leaseEnd(f, "c")
            while try await leaseEnd(f, "c") < first + 4_000 { await Task.yield() }
            let begun = await gate.begun.count
            let isFree = try await f.queue.claim(.reaping, by: "other")
            await gate.open()
            #expect(begun == 2)
            #expect(!isFree)
            for job in jobs {
                while try await f.record(job).state != .done { await Task.yield() }
                let carries = try await f.redis.send(["HGET", key(f, "job:\(job)"), "carries"])
                #expect(carries.string == "1")
            }
        }
        let crashed = try await f.redis.send(["HGET", key(f, "counters"), "crashed"])
        #expect(crashed.string == "3")
    }

    @Test func `are given back by a worker that stops, but for those that have begun`()
        async throws
    {
        let f = try await RunnerFixture()
        let claim = try await f.claim("a")
        _ = try await f.queue.commit(claim, .made(claim), isDraft: false)
        _ = try await f.redis.send(["ZADD", key(f, "lease"), "XX", "0", "a"])
        let carried = try #require(try await f.queue.reap(by: "w").carried.first)
        let (handler, hold) = (FakeHandler(), HeldJob())
        hold.stop()
        await f.runner(handler).carryOn(carried, hold)
        #expect(handler.seen.isEmpty)
        #expect(try await f.record("a").state == .committing)
        _ = try await f.redis.send(["ZADD", key(f, "lease"), "XX", "0", "a"])
        #expect(try await f.queue.reap(by: "v").carried.first?.carries == 1)
    }
}
