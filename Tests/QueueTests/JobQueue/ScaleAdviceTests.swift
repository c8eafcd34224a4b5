import Edits
import Foundation
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("How many workers the work asks for") struct ScaleAdviceTests {
    private func workers(_ count: Int, slots: Int = 4, busy: Int = 0, waiting: Int = 0)
        -> [WorkerInfo]
    {
        (0..<count).map { number in
            WorkerInfo(
                name: "w\(number)", slots: slots, busy: busy, version: "1", startedAt: "",
                memory: WorkerMemory(budgetBytes: 1, grantedBytes: 1, waiting: waiting))
        }
    }

    private func target(_ within: Int = 100, _ count: ClosedRange<Int> = 0...100) -> ScaleTarget {
        var target = ScaleTarget()
        target.within = within
        target.minWorkers = count.lowerBound
        target.maxWorkers = count.upperBound
        return target
    }

    private func work(
        _ parts: WaitingWork.Part..., caps: [String: Int] = [:], usualCap: Int? = nil,
        isPaused: Bool = false
    ) -> WaitingWork {
        WaitingWork(parts: parts, caps: caps, usualCap: usualCap, isPaused: isPaused)
    }

    private func part(_ jobs: Int, _ seconds: Double, _ tenant: String = "a", cap: Int? = nil)
        -> WaitingWork.Part
    {
        WaitingWork.Part(tenant: tenant, jobs: jobs, seconds: seconds, cap: cap)
    }

    @Test func `the work over the time and the slots, rounded up`() {
        let advice = ScaleAdvice(
            work(part(5000, 2500), part(10, 1, "b")), workers: workers(2), target())
        // 2501 s in 100 s are 25.01 slots, 6.25 workers of 4.
        #expect(advice.workers == 7 && advice.reason == .work)
        #expect(advice.workSeconds == 2501 && advice.jobs == 5010 && advice.running == 2)
        #expect(advice.drainSeconds == 2501.0 / 8)
    }

    @Test func `work takes as long as its slowest part can be done`() {
        func drain(_ work: WaitingWork, _ workers: Int = 4) -> Double? {
            ScaleAdvice(work, workers: self.workers(workers), target(600)).drainSeconds
        }
        // One movie fills one of 16 slots.
        #expect(drain(work(part(1, 600))) == 600)
        #expect(drain(work(part(100, 100, cap: 1), part(1000, 100, "b"))) == 100)
        #expect(drain(work(part(100, 100), part(1000, 100, "b")), 4) == 200.0 / 16)
        #expect(drain(work(part(100, 100), part(1000, 100, "b"), caps: ["a": 2])) == 50)
        #expect(drain(work(part(100, 100), part(100, 100), usualCap: 2)) == 100)
    }

    @Test func `without workers the target says how many slots one has`() {
        let advice = ScaleAdvice(work(part(1000, 1000)), workers: [], target())
        #expect(advice.workers == 5 && advice.drainSeconds == nil && advice.slotsPerWorker == 2)
    }

    @Test func `nothing to do, or nothing that may be done, asks for nobody`() {
        #expect(ScaleAdvice(work(), workers: [], target()).reason == .idle)
        let paused = ScaleAdvice(
            work(part(1000, 1000), isPaused: true), workers: workers(3), target())
        #expect(paused.workers == 0 && paused.reason == .paused)
        let held = ScaleAdvice(
            work(part(1000, 1000), caps: ["a": 0]), workers: workers(3), target())
        #expect(held.workers == 0 && held.reason == .idle)
    }

    @Test func `a limit of jobs at a time lets no more workers help`() {
        // 8 at a time do 800 s of the 5000 in 100 s.
        let capped = ScaleAdvice(
            work(part(5000, 5000), caps: ["a": 8]), workers: workers(1), target())
        #expect(capped.workers == 2 && capped.workSeconds == 800)
        let batch = ScaleAdvice(work(part(5000, 5000, cap: 8)), workers: workers(1), target())
        #expect(batch.workers == 2)
        let usual = ScaleAdvice(
            work(part(5000, 5000), part(5000, 5000, "b"), caps: ["b": 100], usualCap: 8),
            workers: workers(1), target())
        #expect(usual.workSeconds == 5800)
        // Three long jobs keep three slots busy, however late they will be.
        let few = ScaleAdvice(work(part(3, 90_000)), workers: workers(1), target())
        #expect(few.workers == 1 && few.reason == .concurrency)
        let even = ScaleAdvice(work(part(4, 400)), workers: workers(1), target())
        #expect(even.workers == 1 && even.reason == .work)
    }

    @Test func `jobs that wait for memory count as slots that do not work`() {
        let advice = ScaleAdvice(
            work(part(1000, 1000)), workers: workers(1, slots: 8, busy: 8, waiting: 6), target())
        #expect(advice.slotsPerWorker == 2 && advice.workers == 5)
        for (slots, busy, waiting, working) in [
            // Slots that hold no job do not work either, once one waits; the last one always does.
            (8, 4, 1, 3), (8, 9, 1, 7), (8, 8, 8, 1), (8, 0, 0, 8), (1, 0, 0, 1), (0, 0, 0, 1),
        ] {
            let worker = workers(1, slots: slots, busy: busy, waiting: waiting)[0]
            #expect(
                ScaleAdvice.workingSlots(of: worker) == working, "\(slots), \(busy), \(waiting)")
        }
    }

    @Test func `a target of no slots, or of one, means one`() {
        for slots in [0, 1] {
            var target = target()
            target.slots = slots
            #expect(ScaleAdvice(work(part(1000, 1000)), workers: [], target).slotsPerWorker == 1)
        }
    }

    @Test func `the target's ends hold, and say so`() {
        let most = ScaleAdvice(work(part(9000, 9000)), workers: [], target(100, 1...10))
        #expect(most.workers == 10 && most.reason == .atMost)
        let least = ScaleAdvice(work(), workers: [], target(100, 2...10))
        #expect(least.workers == 2 && least.reason == .atLeast)
        // If the work itself asks for this number, the reason is the work, also at the bounds.
        for workers in [2, 10] {
            let advice = ScaleAdvice(
                work(part(1000, Double(200 * workers))), workers: [], target(100, 2...10))
            #expect(advice.workers == workers && advice.reason == .work)
        }
    }

    @Test func `more at once, fewer only when none of the last minutes needed them`() {
        var history = ScaleHistory(keep: .seconds(300))
        let start = ContinuousClock.now
        var running = 1
        func ask(_ seconds: Double, at second: Int) -> ScaleAdvice {
            let advice = history.settle(
                ScaleAdvice(work(part(100_000, seconds)), workers: workers(running), target()),
                at: start + .seconds(second))
            running = advice.workers
            return advice
        }
        #expect(ask(4000, at: 0).workers == 10)
        #expect(ask(100, at: 60) == ask(100, at: 61))
        let kept = ask(100, at: 200)
        #expect(kept.workers == 10 && kept.reason == .steady)
        #expect(ask(2000, at: 250).workers == 10)
        // The burst is 301 s ago; 5 were needed since.
        #expect(ask(100, at: 301).workers == 5)
        #expect(ask(0, at: 552).workers == 1)
        #expect(ask(0, at: 1000).workers == 0)
        // None runs, so the target says how many slots one has.
        #expect(ask(8000, at: 1001).workers == 40)
    }

    @Test func `workers that never came are not kept`() {
        var history = ScaleHistory(keep: .seconds(300))
        let start = ContinuousClock.now
        _ = history.settle(
            ScaleAdvice(work(part(1000, 8000)), workers: workers(1), target()), at: start)
        let later = history.settle(
            ScaleAdvice(work(part(100, 400)), workers: workers(3), target()),
            at: start + .seconds(10))
        #expect(later.workers == 3 && later.reason == .steady)
        let none = history.settle(
            ScaleAdvice(work(part(100, 400)), workers: [], target()), at: start + .seconds(20))
        #expect(none.workers == 2 && none.reason == .work)
    }

    @Test func `workers are kept for five minutes to the second`() {
        let start = ContinuousClock.now
        for (second, workers) in [(300, 10), (301, 1)] {
            var history = ScaleHistory()
            for (seconds, time) in [(4000.0, start), (100, start + .seconds(second))] {
                let advice = history.settle(
                    ScaleAdvice(
                        work(part(100_000, seconds)), workers: self.workers(10), target()),
                    at: time)
                if time > start { #expect(advice.workers == workers, "after \(second) s") }
            }
        }
    }

    @Test func `a queue's work is counted once: members with their batch, the others one by one`()
        async throws
    {
        let fixture = try await QueueFixture()
        let queue = fixture.queue
        let batch = try BatchID("spring")
        try await queue.open(
            BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe)))
        let members = try (0..<3).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }
        _ = try await queue.add(members, to: batch, from: 0)
        try await queue.seal(batch, jobs: 3, cost: 1000)
        try await fixture.admit("single")
        let status = try await queue.status()
        let work = try await queue.waitingWork(status, within: .seconds(600))
        let jobs = work.parts.reduce(0) { $0 + $1.jobs }
        #expect(jobs == 4, "\(work) \(status)")
        let seconds = work.seconds(within: .seconds(1000))
        #expect(abs(seconds - (1 + 0.25)) < 0.001, "\(work)")
    }

    @Test func `members that nobody has sent yet are no work`() async throws {
        let fixture = try await QueueFixture()
        let queue = fixture.queue
        let batch = try BatchID("early")
        try await queue.open(BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe)))
        try await queue.seal(batch, jobs: 1000, cost: 1_000_000)
        var target = self.target(10)
        target.minWorkers = 0
        _ = try await queue.admit()
        #expect(try await queue.scaleAdvice(target).workers == 0)
        let members = try (0..<10).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }
        _ = try await queue.add(members, to: batch, from: 0)
        _ = try await queue.admit()
        let work = try await queue.waitingWork(queue.status(), within: .seconds(10))
        #expect(work.parts.reduce(0) { $0 + $1.jobs } == 10, "\(work)")
        #expect(abs(work.seconds(within: .seconds(1000)) - 10) < 0.001, "\(work)")
    }

    @Test func `each part of a long movie is work for a slot of its own`() async throws {
        var settings = QueueSettings()
        settings.usualCost = 100_000
        let fixture = try await QueueFixture(settings: settings)
        try await fixture.admit("movie")
        let target = self.target(10)
        #expect(try await fixture.queue.scaleAdvice(target).workers == 1)
        let claim = try await fixture.claim()
        #expect(try await fixture.queue.scaleAdvice(target).workers == 1)
        _ = try await fixture.queue.split(claim, task: "task", into: Array(1...10))
        let advice = try await fixture.queue.scaleAdvice(target)
        // The movie's own worker, and ten parts: two slots a worker.
        #expect(advice.workers == 6 && advice.reason == .concurrency, "\(advice)")
    }
}
