import Edits
import Foundation
import JobQueue
import MinilabTesting
import Redis
import Testing

@testable import Worker

/// A whole worker on a real Redis; its handler renders nothing.
@Suite("A worker's loops", .timeLimit(.minutes(10))) struct WorkerLoopTests {
    /// A flood of single jobs.
    private static let flood = Volume.trials(byDay: 2_000, byNight: 20_000)

    @Test(arguments: [Priority.interactive, .normal])
    func `an edit that replaces the running one stops it at once while no slot is free`(
        priority: Priority
    ) async throws {
        let w = try await WorkerFixture(slots: 1, isWoken: true)
        try await w.whileRunning {
            try await w.send("j0", asset: "x")
            await w.log.wait { $0.contains(.began("j0")) }
            var scheduling = Scheduling()
            (scheduling.replace, scheduling.priority) = (.running, priority)
            for number in 1...8 {
                try await w.send("j\(number)", asset: "x", scheduling)
                await w.log.wait { $0.contains(.stopped("j\(number - 1)")) }
                await w.log.wait { $0.contains(.began("j\(number)")) }
            }
        }
        #expect(try await w.f.queue.outcome(of: "j0") != nil)
    }

    @Test func `an urgent job is the next to begin behind a flood of another tenant`() async throws
    {
        let w = try await WorkerFixture(slots: 1)
        try await w.flood(Self.flood)
        try await w.whileRunning {
            await w.log.wait { !$0.isEmpty }
            var scheduling = Scheduling()
            scheduling.priority = .interactive
            try await w.send("urgent", asset: "x", scheduling)
            // Admitted though the only slot is taken.
            try await w.admitted("urgent")
            let begun = w.log.begun
            w.log.endOne()
            await w.log.wait { $0.contains(.began("urgent")) }
            #expect(w.log.begun == begun + 1)
        }
    }

    @Test func `a worker with nothing to do begins a job as soon as it is sent`() async throws {
        let w = try await WorkerFixture(slots: 2, isWoken: true)
        try await w.whileRunning {
            for number in 0..<5 {
                try await w.send("j\(number)", asset: "x\(number)")
                await w.log.wait { $0.contains(.began("j\(number)")) }
                w.log.endOne()
            }
        }
    }

    @Test func `a worker that has ended is not listed any more`() async throws {
        let w = try await WorkerFixture(slots: 1)
        try await w.whileRunning {
            try await w.send("j", asset: "x")
            await w.log.wait { $0.contains(.began("j")) }
            while try await w.f.queue.workers().isEmpty {}
            w.log.endOne()
        }
        #expect(try await w.f.queue.workers().isEmpty)
        #expect(try await w.f.queue.workerCount() == 0)
    }

    @Test func `a worker takes the duty to admit when the one that had it is gone`() async throws {
        let w = try await WorkerFixture(slots: 1)
        _ = try await w.f.redis.send([
            "HSET", RedisArgument(w.f.queue.name.keys.ingress.dropLast(2) + "duties"), "admitting",
            RedisArgument("\(try await w.f.queue.now() + 100) ghost"),
        ])
        try await w.whileRunning {
            try await w.send("j", asset: "x")
            await w.log.wait { $0.contains(.began("j")) }
            w.log.endOne()
        }
        // Whoever stops hands it on at once.
        #expect(try await w.f.queue.claim(.admitting, by: "next"))
    }
}
