import AccessKeys
import FoundationEssentials
import JobQueue
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

    /// The calls that were refused because their tenant has its share of what all need, by what that is.
    private var sharesRefused: MetricFamily {
        let refused = [
            ("requests", connections.refusedCount), ("streams", permits.streams.refusedCount),
            ("uploads", permits.uploads.refusedCount), ("trials", permits.trials.refusedCount),
            ("costly calls", permits.costlyCalls.refusedCount),
            ("lookups", webhooks.sender.refusedLookups),
            ("pictures", pictures?.refusedCount ?? 0),
            ("signins", providerSignIn?.calls.refusedCount ?? 0),
        ]
        return MetricFamily(
            name: "minilab_gateway_share_refused_total",
            help: "Calls that were refused because their tenant has its share, by what is shared.",
            kind: .counter,
            samples: refused.map {
                .init(labels: [.init("of", $0.0)], value: Double($0.1))
            })
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
                Double(permits.streams.count)),
            .gauge(
                "minilab_gateway_streams_max", "Streams of events that may be open.",
                Double(settings.streamsMax)),
            .gauge(
                "minilab_gateway_connections_open", "Connections that are open.",
                Double(connections.count)),
            .gauge(
                "minilab_gateway_connections_max", "Connections that may be open.",
                Double(border.connectionsMax)),
            MetricFamily(
                name: "minilab_gateway_connections_replaced_total",
                help: "Connections without a call that were closed for newer ones.", kind: .counter,
                samples: [.init(value: Double(connections.replacedCount))]),
            sharesRefused,
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
