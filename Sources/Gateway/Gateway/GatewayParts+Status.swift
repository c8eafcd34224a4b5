import AccessKeys
import FoundationEssentials
import JobQueue
package import Telemetry
import Webhooks

/// The state of a gateway at one moment.
extension GatewayParts {
    /// Returns the pages of the status port.
    ///
    /// - Parameter more: metrics of the spans that the gateway sends, and of the queue.
    package func statusPages(
        more: @escaping @Sendable () async -> [MetricFamily] = { [] }
    ) -> [StatusPage] {
        [
            StatusPage("/metrics") { [self] in
                let families =
                    calls.metrics.families() + gauges() + deliveries.metrics().families
                    + (await more())
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
        if !calls.events.hub.hasContact {
            problems.append(
                .init(
                    what: "Redis does not answer reads of events", forSeconds: nil, action: action))
        }
        if !calls.keys.isReady {
            problems.append(
                .init(what: "keys are not heard of from Redis", forSeconds: nil, action: action))
        }
        return HealthReport(problems)
    }

    /// The calls that were refused because their tenant has its share of what all need, by what that is.
    private var sharesRefused: MetricFamily {
        let refused = [
            ("requests", calls.limits.connections.refusedCount),
            ("streams", calls.permits.streams.refusedCount),
            ("uploads", calls.permits.uploads.refusedCount),
            ("member bodies", calls.permits.memberBodies.refusedCount),
            ("large bodies", calls.permits.wholeBodies.refusedCount),
            ("trials", calls.permits.trials.refusedCount),
            ("costly calls", calls.permits.costlyCalls.refusedCount),
            ("lookups", calls.webhooks.sender.refusedLookups),
            ("pictures", calls.pictures?.refusedCount ?? 0),
            ("signins", calls.signIn.provider?.calls.refusedCount ?? 0),
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
                calls.events.hub.hasContact ? 1 : 0),
            .gauge(
                "minilab_gateway_streams_open", "Streams of events that are open.",
                Double(calls.permits.streams.count)),
            .gauge(
                "minilab_gateway_streams_max", "Streams of events that may be open.",
                Double(calls.settings.streamsMax)),
            .gauge(
                "minilab_gateway_connections_open", "Connections that are open.",
                Double(calls.limits.connections.count)),
            .gauge(
                "minilab_gateway_connections_max", "Connections that may be open.",
                Double(calls.limits.border.connectionsMax)),
            MetricFamily(
                name: "minilab_gateway_connections_replaced_total",
                help: "Connections without a call that were closed for newer ones.", kind: .counter,
                samples: [.init(value: Double(calls.limits.connections.replacedCount))]),
            sharesRefused,
            .gauge(
                "minilab_gateway_keys_held", "Keys that are kept in memory.",
                Double(calls.keys.count)),
        ]
        if let newest = calls.events.hub.newest, newest.milliseconds > 0 {
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
