import StatusServing
import Telemetry

extension WorkerHealth {
    /// Returns health as metrics. They are ages and not times, so steps of the system clock do not affect them.
    func families(now: ContinuousClock.Instant = .now) -> [MetricFamily] {
        [
            .gauge(
                "minilab_heartbeat_age_seconds", "Time since the last turn of the heartbeat.",
                heartbeatAge(now: now) / .seconds(1)),
            .gauge(
                "minilab_alive", "1 when /healthz says 200: claim loop and heartbeat move.",
                alive(now: now).ok ? 1 : 0),
            .gauge(
                "minilab_ready", "1 when /readyz says 200: it can take jobs.",
                ready(now: now).ok ? 1 : 0),
        ]
    }
}
