import HTTPTypes
package import Telemetry

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

    /// Creates metrics with the value 0.
    ///
    /// - Parameters:
    ///   - version: the version of minilab.
    ///   - routes: the number of routes.
    package init(version: String, routes: Int) {
        all.gauge("minilab_build_info", "The version that runs.", labels: ["version"])
            .set(1, version)
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

    /// Counts a response.
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

    /// Returns the current values of all metrics.
    package func families() -> [MetricFamily] { all.families() }
}
