import Telemetry

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
