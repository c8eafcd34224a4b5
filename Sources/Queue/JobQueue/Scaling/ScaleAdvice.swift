/// The number of workers that a queue's work needs, with the reason.
///
///     workers = work possible within the time ÷ (the time × working slots of a worker), rounded up
///
/// The number is limited by the jobs that can run at the same time, and by the range of the target. Memory counts through the
/// slots: if a worker's jobs wait for memory, only its slots that have memory count (``workingSlots(of:)``).
public struct ScaleAdvice: Sendable, Equatable, Codable {
    /// The rule that determined the number.
    public enum Reason: String, Sendable, Codable, CaseIterable {
        /// No work waits.
        case idle
        /// Claims are paused: more workers would do nothing.
        case paused
        /// The work divided by the time.
        case work
        /// No more jobs can run at the same time.
        case concurrency
        /// The target's minimum.
        case atLeast
        /// The target's maximum: the work takes longer than it should.
        case atMost
        /// Fewer workers would suffice now, but it is too early to stop some.
        case steady
    }

    /// The number of workers that should run.
    public internal(set) var workers: Int
    public internal(set) var reason: Reason
    /// The number of workers that sent a heartbeat recently.
    public let running: Int
    /// The work that can be done within the time, in seconds of a slot.
    public let workSeconds: Double
    /// The jobs that are not done, except those that wait for their start time.
    public let jobs: Int
    /// The number of working slots of one worker.
    public let slotsPerWorker: Double
    /// The time that the running workers need for that work, in seconds; nil if no worker runs.
    public let drainSeconds: Double?
    /// The target time for that work, in seconds.
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

    /// Returns the number of a worker's slots that have memory for a job: all slots while no job of the worker waits for memory.
    public static func workingSlots(of worker: WorkerInfo) -> Int {
        guard let waiting = worker.memory?.waiting, waiting > 0 else { return max(1, worker.slots) }
        return max(1, min(worker.busy, worker.slots) - waiting)
    }
}
