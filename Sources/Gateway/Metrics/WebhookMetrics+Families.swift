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
                "Endpoints that messages are sent to; each gateway tells the same.", Double(active)),
            .gauge(
                "minilab_gateway_webhook_endpoints_disabled",
                "Endpoints that are disabled; each gateway tells the same.", Double(disabled)),
            .gauge(
                "minilab_gateway_webhook_endpoints_held",
                "Endpoints that this gateway delivers for.", Double(held)),
            counter(
                "minilab_gateway_webhook_delivered_total", "Messages that were taken.", delivered),
            counter("minilab_gateway_webhook_failed_total", "Tries that failed.", failed),
            counter(
                "minilab_gateway_webhook_given_up_total",
                "Messages that were given up after all tries.", givenUp),
            counter(
                "minilab_gateway_webhook_gaps_total", "Gaps that endpoints were told of.", gaps),
            .gauge(
                "minilab_gateway_webhook_parked", "Messages that wait to be sent again.",
                Double(parked)),
            .gauge(
                "minilab_gateway_webhook_lag_events",
                "Events that the endpoint with most of them has yet to get, up to a page.",
                Double(lagEvents)),
            .gauge(
                "minilab_gateway_webhook_lag_seconds",
                "How far the last endpoint is behind the newest event.", lagSeconds),
        ]
    }
}
