import RenderPool
import Synchronization

/// Stops a worker's claims while jobs that it has already claimed could not start.
public final class ClaimBrake: Sendable {
    enum Reason: Hashable {
        /// Jobs wait for memory.
        case memory
        /// The library's store is unavailable, or it is not the queue's library.
        case store
        /// No render child can be started.
        case children
    }

    private struct State {
        var reasons: Set<Reason> = []
        var storeTrouble: String?
        var childTrouble: String?
        var wake: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let metrics: WorkerMetrics

    public init(metrics: WorkerMetrics = WorkerMetrics()) { self.metrics = metrics }

    /// Whether claims are stopped now.
    var isPulled: Bool { state.withLock { !$0.reasons.isEmpty } }

    /// Adds or removes a reason. The brake stays pulled while at least one reason remains.
    func pull(_ isPulled: Bool, for reason: Reason) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            let was = !state.reasons.isEmpty
            if isPulled { state.reasons.insert(reason) } else { state.reasons.remove(reason) }
            let isPulled = !state.reasons.isEmpty
            guard was != isPulled else { return nil }
            metrics.pausesClaims(isPulled)
            return isPulled ? nil : state.wake
        }
        wake?()
    }

    /// The sentence that says why no jobs are claimed: the library cannot be used, or no render child can be started; nil for
    /// neither. The worker's heartbeats report it.
    package var trouble: String? { state.withLock { $0.storeTrouble ?? $0.childTrouble } }

    /// Sets the sentence that says why the library cannot be used; nil: it can.
    func tell(ofStore trouble: String?) {
        state.withLock { state in
            guard trouble != state.storeTrouble else { return }
            state.storeTrouble = trouble
            metrics.setStore(trouble: trouble)
        }
    }

    /// Adds or removes the reason that jobs wait for memory.
    public func pullForMemory(_ isPulled: Bool) { pull(isPulled, for: .memory) }

    /// Adds the reason that no render child can be started; nil removes it.
    public func pullForChildren(_ trouble: String?) {
        state.withLock {
            $0.childTrouble = trouble.map { "no render child can be started: \($0)" }
        }
        metrics.health.set(.children, trouble)
        pull(trouble != nil, for: .children)
    }

    /// Sets the closure that runs when claims may resume.
    func onRelease(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}

/// The number of jobs that a worker holds beyond its slots, so that some jobs transfer their files while others
/// render.
///
/// It is the average number of jobs in transfer while all slots render: slots × transfer time ÷ render time
/// (Little's law).
struct ClaimAhead: Sendable {
    /// The largest number of extra jobs for each slot. Source: a photo of 6 MB that waits 0.36 s for a store and
    /// renders for 0.14 s needs 2.6.
    static let perSlotMax = 3
    /// The weight of a new job in the moving averages.
    private static let weight = 0.125

    private let slots: Int
    /// The averaged transfer and render times of a job, in seconds; nil before the first job.
    private var mean: (travel: Double, render: Double)?

    /// - Parameter slots: the worker's slots; 0 if the handler transfers no files.
    init(slots: Int) { self.slots = slots }

    /// The number of extra jobs. Before the first measurement it equals the number of slots.
    var jobs: Int {
        guard let mean else { return slots }
        let most = slots * Self.perSlotMax
        let wanted = (Double(slots) * mean.travel / mean.render).rounded(.up)
        return wanted < Double(most) ? Int(wanted) : most
    }

    /// Adds a finished job to the averages.
    mutating func note(_ times: StageTimes) {
        let travel = (times.fetching + times.publishing) / .seconds(1)
        // Avoids a division by zero: an edit that renders nothing consists of transfer only.
        let render = max(times.rendering / .seconds(1), 1e-6)
        guard let old = mean else { return mean = (travel, render) }
        mean = (
            old.travel + (travel - old.travel) * Self.weight,
            old.render + (render - old.render) * Self.weight
        )
    }
}

/// The interval of the tasks that any worker may do: checking for jobs without a wake-up, requesting the duty of
/// admission, and reclaiming lost leases.
///
/// The interval grows with the number of workers, so that a thousand workers send Redis about as many of these
/// requests as fifty.
final class FleetPace: Sendable {
    /// The rate of all workers together, per second, while there are at least that many workers and ``longest``
    /// allows it.
    static let perSecond = 50
    /// The interval of a worker in a small fleet.
    static let shortest: Duration = .seconds(1)
    /// The longest interval, in a very large fleet. It is shorter than the time after which a worker is reported as
    /// stalled.
    static let longest: Duration = .seconds(20)

    /// The longest interval between two requests for the duty of admission. At 4 s, with the other duties at the
    /// same interval, 1,000 idle workers used 8 % of a core of Redis instead of 4 %.
    static let dutyLongest: Duration = .seconds(10)

    private let workers = Mutex(1)
    private let floor: Duration

    /// - Parameter floor: the interval of a worker in a small fleet; a longer one is for tests, in which nothing may
    ///   happen by itself.
    init(floor: Duration = FleetPace.shortest) { self.floor = floor }

    /// Records the number of workers that have sent a heartbeat recently.
    func note(workers number: Int) { workers.withLock { $0 = number } }

    /// The time until the next request for the duty of admission, with the same jitter.
    var dutyInterval: Duration { min(interval, Self.dutyLongest * Double.random(in: 0.75...1)) }

    /// The time until the next turn: the nominal interval times a random factor between 0.75 and 1.
    var interval: Duration {
        let even = Duration.seconds(1) * workers.withLock { $0 } / Self.perSecond
        return max(min(max(even, Self.shortest), Self.longest), floor) * Double.random(in: 0.75...1)
    }
}

extension PressureLevel {
    /// Returns the number of jobs that may be claimed.
    ///
    /// Up to `shrinking`, a worker without jobs still claims one at a time, so that a queue whose workers are all
    /// short of memory makes slow progress and does not stop. From `pausing` on, a further job would only have to
    /// be returned.
    ///
    /// - Parameters:
    ///   - held: the number of jobs that the worker holds.
    ///   - slots: the number of jobs that it may hold.
    func claims(held: Int, slots: Int) -> Int {
        switch self {
        case .calm: max(0, slots - held)
        case .holding, .shrinking: held == 0 ? min(1, slots) : 0
        case .pausing, .requeueing: 0
        }
    }
}
