package import Telemetry
package import Webhooks

extension WebhookMetrics {
    /// The metrics of the deliveries, as a scrape reads them.
    package var families: [MetricFamily] {
        func counter(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(
                name: name, help: help, kind: .counter, samples: [.init(value: Double(value))])
        }
        return [
            .gauge(
                "minilab_gateway_webhook_endpoints_active",
                "Endpoints that receive messages. Every gateway reports the same value.",
                Double(active)),
            .gauge(
                "minilab_gateway_webhook_endpoints_disabled",
                "Endpoints that are disabled. Every gateway reports the same value.",
                Double(disabled)),
            .gauge(
                "minilab_gateway_webhook_endpoints_held",
                "Endpoints to which this gateway delivers.", Double(held)),
            counter(
                "minilab_gateway_webhook_delivered_total", "Messages that endpoints accepted.",
                delivered),
            counter(
                "minilab_gateway_webhook_failed_total", "Attempts to deliver that failed.", failed),
            counter(
                "minilab_gateway_webhook_given_up_total",
                "Messages that were given up after the last attempt.", givenUp),
            counter(
                "minilab_gateway_webhook_gaps_total", "Gaps that were reported to endpoints.", gaps),
            .gauge(
                "minilab_gateway_webhook_parked", "Messages that wait to be sent again.",
                Double(parked)),
            .gauge(
                "minilab_gateway_webhook_lag_events",
                "Undelivered events of the endpoint with the largest backlog, up to one page.",
                Double(lagEvents)),
            .gauge(
                "minilab_gateway_webhook_lag_seconds",
                "Time by which the slowest endpoint is behind the newest event.", lagSeconds),
        ]
    }
}
