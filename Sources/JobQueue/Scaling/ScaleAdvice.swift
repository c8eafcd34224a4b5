/// How many workers a queue's work asks for, and why.
///
///     workers = work within the time ÷ (the time × slots of a worker that work), rounded up
///
/// and not more than have a job to do at the same time, nor fewer or more than the target allows. Memory counts through
/// the slots: of a worker whose jobs wait for memory only the slots count that have some (``workingSlots(of:)``).
public struct ScaleAdvice: Sendable, Equatable, Codable {
    /// The rule that decided.
    public enum Reason: String, Sendable, Codable, CaseIterable {
        /// Nothing waits.
        case idle
        /// Claims are paused: more workers would do nothing.
        case paused
        /// The work over the time.
        case work
        /// No more jobs can run at the same time.
        case concurrency
        /// The target allows no fewer.
        case atLeast
        /// The target allows no more: what waits takes longer than it should.
        case atMost
        /// Fewer would do now, and it is too early to stop some.
        case steady
    }

    /// Workers that should run.
    public internal(set) var workers: Int
    public internal(set) var reason: Reason
    /// Workers that were heard of lately.
    public let running: Int
    /// Work that can be done in the time, in seconds of a slot.
    public let workSeconds: Double
    /// Jobs that are not done, without those that wait for a time.
    public let jobs: Int
    /// Slots of one worker that work.
    public let slotsPerWorker: Double
    /// How long the workers that run take for that work, in seconds; nil when none runs.
    public let drainSeconds: Double?
    /// The time it should take, in seconds.
    public let within: Int

    public init(_ work: WaitingWork, workers running: [WorkerInfo], _ target: ScaleTarget) {
        let slots =
            running.isEmpty
            ? Double(max(1, target.slots))
            : running.reduce(0) { $0 + Double(Self.workingSlots(of: $1)) } / Double(running.count)
        let seconds = work.seconds(within: .seconds(target.within))
        let jobs = work.parts.reduce(0) { $0 + $1.jobs }
        self.running = running.count
        workSeconds = seconds
        self.jobs = jobs
        slotsPerWorker = slots
        drainSeconds = running.isEmpty ? nil : seconds / (slots * Double(running.count))
        within = target.within
        func count(_ amount: Double, _ each: Double) -> Int {
            Int(min((amount / each).rounded(.up), Double(ScaleTarget.workersMax)))
        }
        let byWork = count(seconds, Double(target.within) * slots)
        let byJobs = count(Double(work.concurrency), slots)
        (workers, reason) =
            if work.isPaused {
                (0, .paused)
            } else if byWork == 0 {
                (0, .idle)
            } else if byJobs < byWork {
                (byJobs, .concurrency)
            } else {
                (byWork, .work)
            }
        if workers < target.minWorkers { (workers, reason) = (target.minWorkers, .atLeast) }
        if workers > target.maxWorkers { (workers, reason) = (target.maxWorkers, .atMost) }
    }

    /// Slots of a worker that have memory for a job: all while no job of it waits for memory.
    public static func workingSlots(of worker: WorkerInfo) -> Int {
        guard let waiting = worker.memory?.waiting, waiting > 0 else { return max(1, worker.slots) }
        return max(1, min(worker.busy, worker.slots) - waiting)
    }
}
