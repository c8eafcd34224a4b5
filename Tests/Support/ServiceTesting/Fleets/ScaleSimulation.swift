import JobQueue
import MinilabTesting

/// A fleet that works on made-up jobs by the real formula, a second at a time.
///
/// A worker is there some seconds after it was asked for. Its slots take jobs as they become free; a second of a slot is
/// shared by as many jobs as fit into it.
package struct ScaleSimulation {
    struct Worker {
        let number: Int
        let readyAt: Int
        /// Seconds of its job that each slot has left.
        var left: [Double]
    }

    /// How things stood at the end of a second.
    package struct Moment {
        package let second: Int
        package let jobs: Int
        package let workers: Int
        package let busySlots: Int
    }

    /// The figures of a whole run.
    package struct Outcome: CustomStringConvertible {
        /// The second at which nothing was left, after the last job had come.
        package var drained: Int?
        package var done = 0
        package var started = 0
        package var stopped = 0
        package var killed = 0
        package var peak = 0
        /// Seconds that workers were there, and that their slots worked.
        package var workerSeconds = 0.0
        package var slotSeconds = 0.0
        /// Each second of the run.
        package var moments: [Moment] = []

        package var description: String {
            (drained.map { "drained at \($0) s, " } ?? "")
                + "\(done) done, \(started) started, \(stopped) stopped, "
                + "\(killed) killed, peak \(peak), \(Int(slotSeconds)) of \(Int(workerSeconds)) s busy"
        }
    }

    private let target: ScaleTarget
    private let slots = 4
    package let startUp = 20
    private let pollInterval = 15
    private let keep = ScaleHistory.keepUsual
    /// The chance that a worker is killed in a second.
    private let killChance: Double
    /// Jobs that come in a second.
    private let arrivals: (Int) -> Int
    /// The cost of a job, in seconds of a slot.
    private let cost: (inout SeededGenerator) -> Double

    init(
        maxWorkers: Int, killChance: Double = 0, arrivals: @escaping (Int) -> Int,
        cost: @escaping (inout SeededGenerator) -> Double
    ) {
        var target = ScaleTarget()
        target.maxWorkers = maxWorkers
        self.target = target
        self.killChance = killChance
        self.arrivals = arrivals
        self.cost = cost
    }

    func run(_ seconds: Int, _ generator: inout SeededGenerator) -> Outcome {
        var outcome = Outcome()
        var waiting: [Double] = []
        var workers: [Worker] = []
        var history = ScaleHistory(keep: keep)
        let start = ContinuousClock.now
        var newest = 0
        for second in 0..<seconds {
            for _ in 0..<arrivals(second) { waiting.append(cost(&generator)) }
            if second.isMultiple(of: pollInterval) {
                poll(
                    at: start + .seconds(second), second, waiting.count, &workers, &history,
                    &newest,
                    &outcome)
            }
            for index in workers.indices.reversed()
            where Double.random(in: 0..<1, using: &generator) < killChance {
                // Its jobs wait again, from their beginning as far as anybody knows.
                waiting += workers[index].left.filter { $0 > 0 }
                workers.remove(at: index)
                outcome.killed += 1
            }
            work(&workers, &waiting, second, &outcome)
            outcome.peak = max(outcome.peak, workers.count)
            outcome.workerSeconds += Double(workers.count * slots)
            let busy = workers.reduce(0) { $0 + $1.left.count { $0 > 0 } }
            outcome.moments.append(
                Moment(
                    second: second, jobs: waiting.count + busy, workers: workers.count,
                    busySlots: busy))
            if !waiting.isEmpty || busy > 0 {
                outcome.drained = nil
            } else if outcome.drained == nil {
                outcome.drained = second
            }
        }
        return outcome
    }

    private func poll(
        at time: ContinuousClock.Instant, _ second: Int, _ waiting: Int,
        _ workers: inout [Worker], _ history: inout ScaleHistory, _ newest: inout Int,
        _ outcome: inout Outcome
    ) {
        let running = workers.reduce(0) { $0 + $1.left.count { $0 > 0 } }
        let mean = outcome.done > 0 ? outcome.slotSeconds / Double(outcome.done) : 0.25
        let open = waiting + running
        let parts =
            open == 0
            ? [] : [WaitingWork.Part(tenant: nil, jobs: open, seconds: Double(open) * mean)]
        let heard = workers.filter { $0.readyAt <= second }
        let advice = history.settle(
            ScaleAdvice(
                WaitingWork(parts: parts),
                workers: heard.map {
                    WorkerInfo(
                        name: "\($0.number)", slots: slots, version: "", startedAt: "")
                }, target), at: time)
        let started = max(0, advice.workers - workers.count)
        for _ in 0..<started {
            newest += 1
            workers.append(
                Worker(
                    number: newest, readyAt: second + startUp,
                    left: Array(repeating: 0, count: slots)))
        }
        outcome.started += started
        // As a worker at SIGTERM, which finishes its jobs: here it stops once it holds none. The youngest stop first.
        let surplus = workers.indices.filter { index in
            workers[index].readyAt <= second && workers[index].left.allSatisfy { $0 == 0 }
        }.suffix(max(0, workers.count - advice.workers))
        for index in surplus.reversed() { workers.remove(at: index) }
        outcome.stopped += surplus.count
    }

    private func work(
        _ workers: inout [Worker], _ waiting: inout [Double], _ second: Int,
        _ outcome: inout Outcome
    ) {
        for index in workers.indices where workers[index].readyAt <= second {
            for slot in 0..<slots {
                var time = 1.0
                while time > 0 {
                    if workers[index].left[slot] == 0 {
                        guard let next = waiting.popLast() else { break }
                        workers[index].left[slot] = next
                    }
                    let step = min(time, workers[index].left[slot])
                    time -= step
                    outcome.slotSeconds += step
                    workers[index].left[slot] -= step
                    if workers[index].left[slot] < 1e-9 {
                        workers[index].left[slot] = 0
                        outcome.done += 1
                    }
                }
            }
        }
    }
}
