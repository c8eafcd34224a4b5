import RenderPool
import Synchronization
import Telemetry

/// The health of a worker: whether it is alive, and whether it is ready to take jobs.
///
/// *Alive* concerns this process alone: false means that a restart would help. An unavailable Redis does not make it false,
/// because the loops keep running and try again. *Ready* concerns jobs: Redis responds, and the worker was not asked to stop.
final class WorkerHealth: Sendable {
    /// The causes for which a worker claims no jobs, in the order of a report.
    enum Cause: CaseIterable {
        /// No render child can be started.
        case children
        case memory
        /// The library's store cannot be used.
        case store
        case redis
    }

    private struct State {
        var asked: ContinuousClock.Instant
        var beat: ContinuousClock.Instant
        var freedSlot: ContinuousClock.Instant
        var busy = 0
        var waitsForIdle = false
        var pausesClaims = false
        var drainingSince: ContinuousClock.Instant?
        var hasReachedRedis = false
        var troubles: [Cause: (since: ContinuousClock.Instant, reason: String)] = [:]

        func problem(_ cause: Cause, _ now: ContinuousClock.Instant) -> HealthReport.Problem? {
            troubles[cause].map { since, reason in
                HealthReport.Problem(
                    what: cause.what + reason, forSeconds: (now - since) / .seconds(1),
                    action: cause.action)
            }
        }
    }

    private let slots: Int
    /// The time for which a loop may stand still before a restart is needed.
    let standstillMax: Duration
    private let state: Mutex<State>

    /// The shortest standstill that requires a restart.
    ///
    /// A turn of either loop takes at most four waits for Redis of 5 s each and a pause of 5 s, so a healthy worker is far
    /// below it.
    static let standstillAtLeast: Duration = .seconds(60)

    init(slots: Int, lease: Duration, now: ContinuousClock.Instant = .now) {
        self.slots = slots
        standstillMax = max(lease * 2, Self.standstillAtLeast)
        state = Mutex(State(asked: now, beat: now, freedSlot: now))
    }

    /// Notes that the claim loop requests jobs: at least every few seconds while a slot is free.
    func asksForJobs(now: ContinuousClock.Instant = .now) {
        state.withLock { ($0.asked, $0.waitsForIdle) = (now, false) }
    }

    /// Notes that the claim loop waits until no job runs, because a quarantined job runs alone.
    func waitsForIdle() { state.withLock { $0.waitsForIdle = true } }

    /// Notes a turn of the heartbeat, with or without leases to renew.
    func beats(now: ContinuousClock.Instant = .now) { state.withLock { $0.beat = now } }

    func drains(now: ContinuousClock.Instant = .now) {
        state.withLock { $0.drainingSince = $0.drainingSince ?? now }
    }

    func begins() { state.withLock { $0.busy += 1 } }

    func freesSlot(now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.busy -= 1
            state.freedSlot = now
        }
    }

    func pausesClaims(_ pauses: Bool, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.pausesClaims = pauses
            // Before, the worker correctly asked for no jobs.
            if !pauses { state.asked = now }
        }
    }

    /// Notes a reason for which no jobs are claimed; nil: there is none any more. For Redis, nil says that it has answered.
    func set(_ cause: Cause, _ reason: String?, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.troubles[cause] = reason.map { (state.troubles[cause]?.since ?? now, $0) }
            if cause == .redis {
                state.hasReachedRedis = state.hasReachedRedis || reason == nil
            } else if reason == nil {
                // Before, the worker correctly asked for no jobs.
                state.asked = now
            }
        }
    }

    /// Returns the time since the heartbeat's last turn.
    func heartbeatAge(now: ContinuousClock.Instant = .now) -> Duration {
        now - state.withLock { $0.beat }
    }

    /// Returns a report on whether both loops move, and whether render children can be started. If they cannot, a
    /// restart helps where the worker's own processes use up what a process may have.
    func alive(now: ContinuousClock.Instant = .now) -> HealthReport {
        let state = state.withLock { $0 }
        var problems = [state.problem(.children, now)].compactMap(\.self)
        if now - state.beat > standstillMax {
            problems.append(
                HealthReport.Problem(
                    what: "the heartbeat has stopped: leases are not renewed",
                    forSeconds: (now - state.beat) / .seconds(1),
                    action: "restart the worker; its jobs are safe"))
        }
        // The claim loop correctly waits while all slots are busy, one job runs alone, jobs wait for memory, memory is short, or
        // the store does not respond, or no child can be started. After a request to stop, it has ended.
        let waits =
            state.busy >= slots
            || ((state.waitsForIdle || state.pausesClaims) && state.busy > 0)
            || state.troubles.contains { $0.key != .redis }
        let asked = max(state.asked, state.freedSlot)
        if state.drainingSince == nil, !waits, now - asked > standstillMax {
            problems.append(
                HealthReport.Problem(
                    what: "the claim loop has stopped: a slot is free, but no job is claimed",
                    forSeconds: (now - asked) / .seconds(1),
                    action: "restart the worker; its jobs are safe"))
        }
        return HealthReport(problems)
    }

    /// Returns a report on whether the worker takes jobs.
    func ready(now: ContinuousClock.Instant = .now) -> HealthReport {
        let state = state.withLock { $0 }
        var problems = Cause.allCases.compactMap { state.problem($0, now) }
        if let since = state.drainingSince {
            problems.insert(
                HealthReport.Problem(
                    what: "the worker was asked to stop and claims no more jobs",
                    forSeconds: (now - since) / .seconds(1),
                    action: "none: the worker exits when its jobs have ended"),
                at: state.troubles[.children] == nil ? 0 : 1)
        }
        if state.troubles[.redis] == nil, !state.hasReachedRedis {
            problems.append(
                HealthReport.Problem(
                    what: "Redis has not answered since the worker started", forSeconds: nil,
                    action: "wait a few seconds; then see \"Redis is away\" in ops/RUNBOOK.md"))
        }
        return HealthReport(problems)
    }

    /// Returns health as metrics. They are ages and not times, so steps of the system clock do not affect them.
    func families(now: ContinuousClock.Instant = .now) -> [MetricFamily] {
        [
            .gauge(
                "minilab_heartbeat_age_seconds", "Time since the last turn of the heartbeat.",
                heartbeatAge(now: now) / .seconds(1)),
            .gauge(
                "minilab_alive",
                "1 when /healthz answers 200: the claim loop and the heartbeat run.",
                alive(now: now).ok ? 1 : 0),
            .gauge(
                "minilab_ready", "1 when /readyz answers 200: the worker can claim jobs.",
                ready(now: now).ok ? 1 : 0),
        ]
    }
}

extension WorkerHealth.Cause {
    /// The beginning of its sentence, before the reason.
    fileprivate var what: String {
        switch self {
        case .children: "no render child can be started, the worker claims no jobs: "
        case .memory: "memory is short, the worker is "
        case .store: "the library's store cannot be used, the worker claims no jobs: "
        case .redis: "Redis cannot be used: "
        }
    }

    fileprivate var action: String {
        switch self {
        case .children:
            "see \"rendererUnavailable\" in ops/RUNBOOK.md; the worker tries every second, and its jobs are safe"
        case .memory: "see \"Memory is short\" in ops/RUNBOOK.md; the worker resumes by itself"
        case .store:
            "see \"The object store is away\" in ops/RUNBOOK.md; the worker retries every second"
        case .redis: "see \"Redis is away\" in ops/RUNBOOK.md; the worker retries by itself"
        }
    }
}

extension PressureWatch.Shortage {
    /// The sentence of a report, as the reason of `WorkerHealth.Cause.memory`.
    var reason: String { "\(level) and claims no further jobs: \(reading)" }
}
