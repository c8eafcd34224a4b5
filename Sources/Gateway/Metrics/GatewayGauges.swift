import AccessKeys
import FoundationEssentials
import JobQueue
package import StatusServing
package import Telemetry
import Webhooks

/// The state of a gateway at one moment.
extension GatewayParts {
    /// Returns the pages of the status port.
    ///
    /// - Parameter traces: metrics of the spans that the gateway sends.
    package func statusPages(
        traces: @escaping @Sendable () -> [MetricFamily] = { [] }
    ) -> [StatusPage] {
        [
            StatusPage("/metrics") { [self] in
                let families =
                    metrics.families() + gauges() + webhooks.service.metrics().families + traces()
                return StatusAnswer(Exposition.mediaType, Exposition.text(families))
            },
            // The process is alive, because it answers this request.
            StatusPage("/healthz") { StatusAnswer(HealthReport([])) },
            StatusPage("/readyz") { [self] in StatusAnswer(readiness) },
        ]
    }

    /// The readiness: whether Redis answers, and the faults if not.
    var readiness: HealthReport {
        var problems: [HealthReport.Problem] = []
        let action = "see \"Redis is away\" in ops/RUNBOOK.md; the gateway retries by itself"
        if !hub.hasContact {
            problems.append(
                .init(
                    what: "Redis does not answer reads of events", forSeconds: nil, action: action))
        }
        if !keys.isReady {
            problems.append(
                .init(what: "keys are not heard of from Redis", forSeconds: nil, action: action))
        }
        return HealthReport(problems)
    }

    /// Returns the current gauges: streams, keys, contact with Redis.
    func gauges(now: Date = .now) -> [MetricFamily] {
        var families: [MetricFamily] = [
            .gauge(
                "minilab_gateway_ready", "1 when /readyz answers 200: Redis answers.",
                readiness.ok ? 1 : 0),
            .gauge(
                "minilab_gateway_events_contact", "1 when Redis answered the last read of events.",
                hub.hasContact ? 1 : 0),
            .gauge(
                "minilab_gateway_streams_open", "Streams of events that are open.",
                Double(streams.count)),
            .gauge(
                "minilab_gateway_streams_max", "Streams of events that may be open.",
                Double(settings.streamsMax)),
            .gauge(
                "minilab_gateway_keys_held", "Keys that are kept in memory.", Double(keys.count)),
        ]
        if let newest = hub.newest, newest.milliseconds > 0 {
            let age = now.timeIntervalSince1970 - Double(newest.milliseconds) / 1000
            families.append(
                .gauge(
                    "minilab_gateway_newest_event_age_seconds",
                    "Time since the newest event that was read; it grows in a quiet queue, too.",
                    max(0, age)))
        }
        return families
    }
}
