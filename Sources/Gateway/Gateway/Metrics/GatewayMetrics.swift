import HTTPTypes
import Hummingbird
import NIOCore
package import Telemetry
package import Webhooks

/// The metrics of the requests answered since the start. Labels are names of routes, never paths.
///
/// A request that was refused before it reached a route is not counted.
package struct GatewayMetrics: Sendable {
    /// The label of a request whose path belongs to no route.
    static let noRoute = "none"
    /// The number of status classes: 1xx to 5xx.
    private static let classes = 5

    private let all = Metrics()
    private let requests: Counter
    private let seconds: Histogram
    private let received: Counter
    private let sent: Counter
    private let broken: Counter
    private let uploads: Gauge
    private let replays: Gauge
    private let signInsRefused: Counter
    private let rateLimited: Counter

    package init(version: String, commit: String? = nil, routes: Int) {
        all.buildInfo(version, commit)
        requests = all.counter(
            "minilab_gateway_requests_total",
            "Requests that were answered, by route and class of status.",
            labels: ["route", "code"], seriesMax: (routes + 1) * Self.classes)
        seconds = all.histogram(
            "minilab_gateway_request_seconds",
            "Time from a request's head to the head of its answer; bodies that are sent to the gateway are part of it.",
            .requests, labels: ["route"])
        received = all.counter(
            "minilab_gateway_received_bytes_total", "Bytes of bodies that routes have read.")
        sent = all.counter(
            "minilab_gateway_sent_bytes_total", "Bytes of bodies that routes have sent.")
        broken = all.counter(
            "minilab_gateway_broken_bodies_total",
            "Bodies that broke off: a malformed chunk, or a connection that ended.")
        uploads = all.gauge(
            "minilab_gateway_uploads_open", "Uploads of files and of lists of members in progress.")
        replays = all.gauge(
            "minilab_gateway_replays_running", "Replays that run on this gateway.")
        signInsRefused = all.counter(
            "minilab_gateway_sign_ins_refused_total", "Attempts to sign in that were refused.")
        rateLimited = all.counter(
            "minilab_gateway_rate_limited_total", "Requests that were answered with 429.")
    }

    func record(
        _ route: String, _ status: HTTPResponse.Status, after time: Duration, signsIn: Bool = false
    ) {
        requests.add(1, route, "\(status.code / 100)xx")
        seconds.record(time / .seconds(1), route)
        if status == .tooManyRequests { rateLimited.add() }
        if signsIn, status.kind == .clientError { signInsRefused.add() }
    }

    /// Records that the upload of a file or of a list of members starts (1) or ends (-1).
    func uploads(_ change: Double) { uploads.add(change) }
    /// Records that a replay starts (1) or ends (-1).
    func replays(_ change: Double) { replays.add(change) }
    /// Counts received bytes of a body.
    func receives(_ bytes: Int) { received.add(Double(bytes)) }
    /// Counts a body that broke off.
    func breaks() { broken.add() }
    /// Counts sent bytes of a body.
    func sends(_ bytes: Int) { sent.add(Double(bytes)) }

    package func families() -> [MetricFamily] { all.families() }
}

/// A request's body that counts its bytes as they are read.
struct CountedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let metrics: GatewayMetrics

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let metrics: GatewayMetrics

        @concurrent mutating func next() async throws -> ByteBuffer? {
            let part: ByteBuffer?
            do {
                part = try await base.next()
            } catch  where !(error is CancellationError) {
                // An error of the connection is the client's doing, and no fault of the gateway.
                metrics.breaks()
                throw BodyRefusal.broken("\(error)")
            }
            if let part { metrics.receives(part.readableBytes) }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), metrics: metrics)
    }
}

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
