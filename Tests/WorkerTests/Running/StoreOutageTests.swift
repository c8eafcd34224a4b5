import Edits
import Foundation
import JobQueue
import Library
import Logging
import MinilabTesting
import Redis
import Synchronization
import SystemPackage
import Telemetry
import Testing

@testable import Worker

@Suite("A store that does not answer") struct StoreOutageTests {
    private static let away = Failure(.storeUnavailable, "the store is away.")

    /// A store that is away for so many calls.
    private final class Away: Sendable {
        private let left: Mutex<Int>

        init(for calls: Int) { left = Mutex(calls) }

        func call() throws(Failure) {
            let isAway = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isAway { throw StoreOutageTests.away }
        }
    }

    @Test func `is one whose resources other workers have seen, and whose own folder is empty`()
        async throws
    {
        let folder = try TemporaryFolder()
        let resources = ResourceFolder(FilePath(folder.path))
        #expect(!resources.note(false))
        try await resources.check()
        #expect(resources.note(true))
        let failure = await #expect(throws: Failure.self) { try await resources.check() }
        #expect(failure?.code == .storeUnavailable)
        try Data("x".utf8).write(to: URL(filePath: folder.file("a")))
        let other = ResourceFolder(FilePath(folder.path))
        try await other.check()
        #expect(other.note(false))
    }

    @Test func `burns no attempt of a job, which is ready again`() async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(
            make: { _ async throws in throw Self.away },
            reach: { () throws(Failure) in throw Self.away })
        let metrics = WorkerMetrics()
        let runner = f.runner(handler, metrics: metrics)
        let claim = try await f.claim("a")
        await runner.run(claim, HeldJob())
        let record = try await f.record("a")
        #expect(record.state == .ready)
        #expect(try await f.queue.attempts(of: "a").isEmpty)
        #expect(
            metrics.health.ready().problems.contains { $0.what.hasSuffix("the store is away.") })
        await runner.outage.close()
        await runner.outage.waitForEnd()
        #expect(
            !metrics.health.ready().problems.contains { $0.what.contains("the store is away.") })
    }

    @Test func `is not asked when no child can be started, which burns no attempt either`()
        async throws
    {
        let f = try await RunnerFixture()
        let handler = FakeHandler(make: { _ async throws in
            throw Failure(.rendererUnavailable, "no render child can be started.")
        })
        let claim = try await f.claim("a")
        await f.runner(handler).run(claim, HeldJob())
        #expect(try await f.record("a").state == .ready)
        #expect(try await f.queue.attempts(of: "a").isEmpty)
        #expect(!handler.seen.contains(.asked))
    }

    @Test func `that has no room is waited for, too`() async throws {
        let f = try await RunnerFixture()
        let full = Failure(.noSpace, "the scratch folder is full.")
        let handler = FakeHandler(
            make: { _ async throws in throw full }, reach: { () throws(Failure) in throw full })
        let runner = f.runner(handler)
        await runner.run(try await f.claim("a"), HeldJob())
        #expect(try await f.record("a").state == .ready)
        #expect(try await f.queue.attempts(of: "a").isEmpty)
        await runner.outage.close()
        await runner.outage.waitForEnd()
    }

    @Test func `a disk that breaks burns no attempt either, and a file that is broken does`()
        async throws
    {
        let broken = Failure(.ioFailure, "Read-only file system.")
        for isDisk in [true, false] {
            let f = try await RunnerFixture()
            let handler = FakeHandler(
                make: { _ async throws in throw broken },
                reach: { () throws(Failure) in if isDisk { throw broken } })
            let runner = f.runner(handler)
            await runner.run(try await f.claim("a"), HeldJob())
            #expect(try await f.record("a").state == (isDisk ? .ready : .delayed))
            #expect(try await f.queue.attempts(of: "a").isEmpty == isDisk)
            await runner.outage.close()
            await runner.outage.waitForEnd()
        }
    }

    @Test func `holds claims back until it answers`() async throws {
        let store = Away(for: 3)
        let handler = FakeHandler(reach: { () throws(Failure) in try store.call() })
        let brake = ClaimBrake()
        let outage = StoreOutage(
            handler: handler, brake: brake, logger: .init(label: "test"), pause: .milliseconds(1))
        #expect(await outage.begins(Self.away))
        #expect(brake.isPulled)
        await outage.waitForEnd()
        #expect(!brake.isPulled)
        #expect(handler.seen == [.asked, .asked, .asked, .asked])
    }

    @Test func `is told as it is now: an operator mends one thing after the other`() async throws {
        let full = Failure(.noSpace, "the scratch folder is full.")
        let failures = Mutex([Self.away, full])
        let told = Mutex<[String?]>([])
        let brake = ClaimBrake()
        let handler = FakeHandler(reach: { () throws(Failure) in
            told.withLock { $0.append(brake.trouble) }
            if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                throw failure
            }
        })
        let outage = StoreOutage(
            handler: handler, brake: brake, logger: .init(label: "test"), pause: .milliseconds(1))
        #expect(await outage.begins(Self.away))
        await outage.waitForEnd()
        #expect(told.withLock { $0 } == [nil, Self.away.message, full.message])
        #expect(brake.trouble == nil)
    }

    @Test func `does not let go of claims that memory holds back`() async throws {
        let brake = ClaimBrake()
        brake.pull(true, for: .memory)
        let store = Away(for: 1)
        let handler = FakeHandler(reach: { () throws(Failure) in try store.call() })
        let outage = StoreOutage(
            handler: handler, brake: brake, logger: .init(label: "test"),
            pause: .milliseconds(1))
        #expect(await outage.begins(Self.away))
        await outage.waitForEnd()
        #expect(brake.isPulled)
    }

    @Test func `is not away when it answers all else: the job's attempt fails`() async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(make: { _ async throws in throw Self.away })
        let claim = try await f.claim("a")
        await f.runner(handler).run(claim, HeldJob())
        #expect(try await f.record("a").state == .delayed)
        #expect(try await f.queue.attempts(of: "a").map(\.code) == [.storeUnavailable])
    }

    /// The absences that a job may find where the disk of the library is not mounted; nil: it has nothing to undo.
    private static let absences: [FailureCode?] = [
        .missingAsset, .missingResource, .missingVersion, .missingDraft, .damagedVersion, nil,
    ]

    @Test(arguments: absences, [true, false])
    func `is asked for before anything that is absent in it ends a job`(
        _ absence: FailureCode?, isAway: Bool
    ) async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(
            make: { _ in
                if let absence { throw Failure(absence, "it is not there.") }
                return .nothing(.init(mode: .undo, version: nil, reason: "nothing to undo"))
            },
            reach: { () throws(Failure) in throw Self.away },
            presence: { () throws(Failure) in if isAway { throw Self.away } })
        let runner = f.runner(handler)
        await runner.run(try await f.claim("a"), HeldJob())
        let state = try await f.record("a").state
        #expect(isAway ? state == .ready : state == .dead || state == .done)
        #expect(await runner.outage.isOn == isAway)
        await runner.outage.close()
        await runner.outage.waitForEnd()
    }

    @Test func `is asked for before a claim, and stops claims until it is there`() async throws {
        let left = Mutex(1)
        let check: @Sendable () throws(Failure) -> Void = { () throws(Failure) in
            if left.withLock({ $0 > 0 }) { throw Self.away }
        }
        let handler = FakeHandler(reach: check, presence: check)
        let brake = ClaimBrake()
        let outage = StoreOutage(
            handler: handler, brake: brake, logger: .init(label: "test"), pause: .milliseconds(1))
        #expect(await !outage.allowsClaims())
        #expect(brake.trouble == Self.away.message)
        left.withLock { $0 = 0 }
        await outage.waitForEnd()
        #expect(await outage.allowsClaims())
        #expect(brake.trouble == nil && !brake.isPulled)
    }

    @Test func `that is not the queue's is refused until it is`() async throws {
        let brake = ClaimBrake()
        let outage = StoreOutage(
            handler: FakeHandler(), brake: brake, logger: .init(label: "test"),
            pause: .milliseconds(1))
        await outage.refuse("another one")
        #expect(brake.isPulled && brake.trouble == "another one")
        #expect(await outage.isOn)
        await outage.refuse(nil)
        #expect(!brake.isPulled && brake.trouble == nil)
    }

    @Test func `gives a publication back that was carried on, and no carry is counted`()
        async throws
    {
        let f = try await RunnerFixture { $0.retry.base = .zero }
        let failing = FakeHandler(publish: { _ throws(Failure) in throw Failure(.ioFailure, "x") })
        await f.runner(failing).run(try await f.claim("a"), HeldJob())
        let handler = FakeHandler(
            publish: { _ throws(Failure) in throw Self.away },
            reach: { () throws(Failure) in throw Self.away })
        let ends = Ends()
        let runner = f.runner(handler, metrics: ends.metrics)
        for _ in 1...f.queue.settings.carriesMax + 2 {
            let carried = try #require(try await f.queue.reap(by: "w").carried.first)
            #expect(carried.carries == 1)
            await runner.carryOn(carried, HeldJob())
            #expect(try await f.record("a").state == .committing)
            _ = try await f.redis.send([
                "ZADD", RedisArgument(f.queue.name.keys.ingress.dropLast(2) + "lease"), "XX", "0",
                "a",
            ])
        }
        #expect(ends.all.allSatisfy { $0 == "handed_back" })
        await runner.outage.close()
        await runner.outage.waitForEnd()
        let carried = try #require(try await f.queue.reap(by: "w").carried.first)
        await f.runner(FakeHandler()).carryOn(carried, HeldJob())
        #expect(try await f.record("a").state == .done)
    }

    @Test func `is waited for by a version that is committed, which is not carried for it`()
        async throws
    {
        let f = try await RunnerFixture()
        let store = Away(for: 3)
        let handler = FakeHandler(
            publish: { _ throws(Failure) in
                try store.call()
                return .published
            },
            reach: { () throws(Failure) in try store.call() })
        let claim = try await f.claim("a")
        await f.runner(handler).run(claim, HeldJob())
        #expect(try await f.record("a").state == .done)
        #expect(try await f.events() == ["completed"])
    }
}
