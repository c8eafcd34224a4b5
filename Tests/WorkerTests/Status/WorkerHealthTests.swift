import RenderPool
import Telemetry
import Testing

@testable import Worker

@Suite("Health of a worker") struct WorkerHealthTests {
    private let start = ContinuousClock.now

    private func health(slots: Int = 1) -> WorkerHealth {
        WorkerHealth(slots: slots, lease: .seconds(30), now: start)
    }

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func `a worker that has just started is alive and not yet ready`() throws {
        let health = health()
        #expect(health.alive(now: start).ok)
        let problem = try #require(health.ready(now: start).problems.first)
        #expect(problem.what.hasPrefix("Redis has not answered since the worker started"))
        health.set(.redis, nil, now: after(1))
        #expect(health.ready(now: after(1)).ok)
    }

    @Test func `Redis away makes a worker unready at once and never dead`() throws {
        let health = health()
        health.set(.redis, nil, now: start)
        for second in stride(from: 10, through: 3600, by: 10) {
            health.asksForJobs(now: after(second))
            health.set(.redis, "refused", now: after(second))
            health.beats(now: after(second))
        }
        #expect(health.alive(now: after(3610)).ok)
        let problem = try #require(health.ready(now: after(3610)).problems.first)
        #expect(problem.what == "Redis cannot be used: refused")
        #expect(problem.forSeconds == 3600)
        #expect(problem.action.contains("ops/RUNBOOK.md"))
        health.set(.redis, nil, now: after(3620))
        #expect(health.ready(now: after(3620)).ok)
    }

    @Test
    func `children that cannot be started are told at once, and the claim loop waits for them`() {
        let health = health()
        health.set(.redis, nil, now: start)
        health.set(.children, "no threads", now: after(1))
        for second in 1...200 { health.beats(now: after(second)) }
        for report in [health.alive(now: after(200)), health.ready(now: after(200))] {
            #expect(!report.ok)
            #expect(
                report.problems.map(\.what) == [
                    "no render child can be started, the worker claims no jobs: no threads"
                ])
            #expect(report.problems[0].forSeconds == 199)
        }
        health.set(.children, nil, now: after(200))
        #expect(health.alive(now: after(200)).ok && health.ready(now: after(200)).ok)
    }

    @Test func `a heartbeat that stands is told after the limit`() throws {
        let health = health()
        health.beats(now: after(1))
        for second in 2...70 { health.asksForJobs(now: after(second)) }
        #expect(health.alive(now: after(61)).ok)
        let report = health.alive(now: after(62))
        #expect(!report.ok)
        #expect(
            report.problems.map(\.what) == ["the heartbeat has stopped: leases are not renewed"])
        #expect(report.problems[0].forSeconds == 61)
    }

    @Test func `a claim loop that waits for memory is alive, and has time when it goes on`() {
        let health = health(slots: 2)
        health.begins()
        health.pausesClaims(true, now: after(2))
        for second in 1...1000 { health.beats(now: after(second)) }
        #expect(health.alive(now: after(1000)).ok)
        health.pausesClaims(false, now: after(1000))
        for second in 1000...1100 { health.beats(now: after(second)) }
        #expect(health.alive(now: after(1059)).ok)
        #expect(!health.alive(now: after(1100)).ok)
    }

    @Test func `a claim loop that stands with a free slot is told after the limit`() throws {
        let health = health(slots: 2)
        health.begins()
        for second in 1...100 { health.beats(now: after(second)) }
        #expect(health.alive(now: after(60)).ok)
        let report = health.alive(now: after(100))
        #expect(report.problems.count == 1)
        #expect(report.problems[0].what.hasPrefix("the claim loop has stopped"))
    }

    @Test func `with all slots busy for an hour the claim loop rightly waits`() {
        let health = health()
        health.begins()
        health.beats(now: after(3600))
        #expect(health.alive(now: after(3600)).ok)
        // A moment after a slot is free the loop has not asked again yet.
        health.freesSlot(now: after(3600))
        #expect(health.alive(now: after(3601)).ok)
        health.beats(now: after(3661))
        #expect(!health.alive(now: after(3661)).ok)
    }

    @Test func `while a quarantined job runs alone no other is asked for, rightly`() {
        let health = health(slots: 4)
        health.asksForJobs(now: after(1))
        health.begins()
        health.waitsForIdle()
        health.beats(now: after(600))
        #expect(health.alive(now: after(600)).ok)
        health.freesSlot(now: after(600))
        health.beats(now: after(700))
        #expect(!health.alive(now: after(700)).ok)
    }

    @Test func `a worker that drains is alive and not ready`() throws {
        let health = health()
        health.set(.redis, nil, now: start)
        health.drains(now: after(10))
        health.beats(now: after(600))
        #expect(health.alive(now: after(600)).ok)
        let problem = try #require(health.ready(now: after(600)).problems.first)
        #expect(problem.what.contains("asked to stop"))
        #expect(problem.forSeconds == 590)
    }

    @Test func `a worker that is short of memory is alive and not ready, and says why`() throws {
        let health = health(slots: 2)
        health.set(.redis, nil, now: start)
        health.set(.memory, "holding: 30 MB are left", now: after(10))
        health.set(.memory, "pausing: 9 MB are left", now: after(20))
        health.beats(now: after(600))
        #expect(health.alive(now: after(600)).ok)
        let problem = try #require(health.ready(now: after(600)).problems.first)
        #expect(problem.what.contains("the worker is pausing"))
        #expect(problem.what.hasSuffix("9 MB are left"))
        #expect(problem.forSeconds == 590)
        #expect(problem.action.contains("Memory is short"))
        health.set(.memory, nil, now: after(600))
        #expect(health.ready(now: after(600)).ok)
        // From now on it has to ask for jobs again.
        health.beats(now: after(661))
        #expect(!health.alive(now: after(661)).ok)
    }
}
