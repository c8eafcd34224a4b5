import RenderPool
import Synchronization
public import Telemetry

/// The health of a worker: whether it is alive, and whether it is ready to take jobs.
///
/// *Alive* concerns this process alone: false means that a restart would help. An unavailable Redis does not make it false,
/// because the loops keep running and try again. *Ready* concerns jobs: Redis responds, and the worker was not asked to stop.
public final class WorkerHealth: Sendable {
    private struct State {
        var asked: ContinuousClock.Instant
        var beat: ContinuousClock.Instant
        var freedSlot: ContinuousClock.Instant
        var busy = 0
        var waitsForIdle = false
        var pausesClaims = false
        var drainingSince: ContinuousClock.Instant?
        var hasReachedRedis = false
        var redisTrouble: (since: ContinuousClock.Instant, reason: String)?
        var storeTrouble: (since: ContinuousClock.Instant, reason: String)?
        var childTrouble: (since: ContinuousClock.Instant, reason: String)?
        var shortage: (since: ContinuousClock.Instant, level: PressureLevel, reading: String)?
    }

    private let slots: Int
    /// The time for which a loop may stand still before a restart is needed.
    let standstillMax: Duration
    private let state: Mutex<State>

    /// The shortest standstill that requires a restart.
    ///
    /// A turn of either loop takes at most four waits for Redis of 5 s each and a pause of 5 s, so a healthy worker is far
    /// below it.
    public static let standstillAtLeast: Duration = .seconds(60)

    /// Creates the health of a worker that starts now.
    public init(slots: Int, lease: Duration, now: ContinuousClock.Instant = .now) {
        self.slots = slots
        standstillMax = max(lease * 2, Self.standstillAtLeast)
        state = Mutex(State(asked: now, beat: now, freedSlot: now))
    }

    public func record(_ event: WorkerEvent, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            switch event {
            case .asksForJobs:
                state.asked = now
                state.waitsForIdle = false
            case .waitsForIdle: state.waitsForIdle = true
            case .beat: state.beat = now
            case .reachedRedis:
                state.hasReachedRedis = true
                state.redisTrouble = nil
            // Both calls are made continuously, and continuously succeed while Redis is available.
            case .missedRedis(.claim, let reason), .missedRedis(.heartbeat, let reason):
                state.redisTrouble = (state.redisTrouble?.since ?? now, reason)
            case .drains: state.drainingSince = state.drainingSince ?? now
            case .began: state.busy += 1
            case .freedSlot:
                state.busy -= 1
                state.freedSlot = now
            case .pausesClaims(let holds):
                state.pausesClaims = holds
                // Before, the worker correctly asked for no jobs.
                if !holds { state.asked = now }
            case .store(let trouble?):
                state.storeTrouble = (state.storeTrouble?.since ?? now, trouble)
            case .store(nil):
                state.storeTrouble = nil
                // Before, the worker correctly asked for no jobs.
                state.asked = now
            case .render(.unavailable(let trouble?)):
                state.childTrouble = (state.childTrouble?.since ?? now, trouble)
            case .render(.unavailable(nil)):
                state.childTrouble = nil
                // Before, the worker correctly asked for no jobs.
                state.asked = now
            case .render(.pressure(.level(.calm, _))):
                state.shortage = nil
                // Before, the worker correctly asked for no jobs.
                state.asked = now
            case .render(.pressure(.level(let level, let reading))):
                state.shortage = (state.shortage?.since ?? now, level, reading)
            case .missedRedis, .ended, .render: break
            }
        }
    }

    /// Returns the time since the heartbeat's last turn.
    public func heartbeatAge(now: ContinuousClock.Instant = .now) -> Duration {
        now - state.withLock { $0.beat }
    }

    /// Returns a report on whether both loops move, and whether render children can be started. If they cannot, a
    /// restart helps where the worker's own processes use up what a process may have.
    public func alive(now: ContinuousClock.Instant = .now) -> HealthReport {
        let state = state.withLock { $0 }
        var problems = Self.childProblems(state, now)
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
            || state.shortage != nil || state.storeTrouble != nil || state.childTrouble != nil
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

    private static func childProblems(
        _ state: State, _ now: ContinuousClock.Instant
    ) -> [HealthReport.Problem] {
        guard let (since, reason) = state.childTrouble else { return [] }
        return [
            HealthReport.Problem(
                what: "no render child can be started, the worker claims no jobs: \(reason)",
                forSeconds: (now - since) / .seconds(1),
                action:
                    "see \"rendererUnavailable\" in ops/RUNBOOK.md; the worker tries every second, and its jobs are safe"
            )
        ]
    }

    /// Returns a report on whether the worker takes jobs.
    public func ready(now: ContinuousClock.Instant = .now) -> HealthReport {
        let state = state.withLock { $0 }
        var problems = Self.childProblems(state, now)
        if let since = state.drainingSince {
            problems.append(
                HealthReport.Problem(
                    what: "the worker was asked to stop and claims no more jobs",
                    forSeconds: (now - since) / .seconds(1),
                    action: "none: the worker exits when its jobs have ended"))
        }
        if let (since, level, reading) = state.shortage {
            problems.append(
                HealthReport.Problem(
                    what:
                        "memory is short, the worker is \(level) and claims no further jobs: "
                        + reading,
                    forSeconds: (now - since) / .seconds(1),
                    action:
                        "see \"Memory is short\" in ops/RUNBOOK.md; the worker resumes by itself"))
        }
        if let (since, reason) = state.storeTrouble {
            problems.append(
                HealthReport.Problem(
                    what:
                        "the library's store cannot be used, the worker claims no jobs: \(reason)",
                    forSeconds: (now - since) / .seconds(1),
                    action:
                        "see \"The object store is away\" in ops/RUNBOOK.md; the worker retries every second"
                ))
        }
        if let (since, reason) = state.redisTrouble {
            problems.append(
                HealthReport.Problem(
                    what: "Redis cannot be used: \(reason)",
                    forSeconds: (now - since) / .seconds(1),
                    action: "see \"Redis is away\" in ops/RUNBOOK.md; the worker retries by itself")
            )
        } else if !state.hasReachedRedis {
            problems.append(
                HealthReport.Problem(
                    what: "Redis has not answered since the worker started", forSeconds: nil,
                    action: "wait a few seconds; then see \"Redis is away\" in ops/RUNBOOK.md"))
        }
        return HealthReport(problems)
    }
}

extension WorkerHealth {
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
