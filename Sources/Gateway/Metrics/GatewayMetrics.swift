import HTTPTypes
package import Telemetry

/// The requests that a gateway has answered since it started, in numbers: by the names of routes, never by paths.
///
/// A request that the border refused, before there was a route for it, is not counted.
package struct GatewayMetrics: Sendable {
    /// The label of a request whose path is no route's.
    static let noRoute = "none"
    /// Classes of statuses: 1xx to 5xx.
    private static let classes = 5

    private let all = Metrics()
    private let requests: Counter
    private let seconds: Histogram
    private let received: Counter
    private let sent: Counter
    private let uploads: Gauge
    private let replays: Gauge
    private let signInsRefused: Counter
    private let rateLimited: Counter

    /// Metrics that all say 0.
    ///
    /// - Parameters:
    ///   - version: of minilab.
    ///   - routes: how many routes there are.
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
        uploads = all.gauge(
            "minilab_gateway_uploads_open", "Files and lists of members that are being sent now.")
        replays = all.gauge(
            "minilab_gateway_replays_running", "Replays that this gateway carries out now.")
        signInsRefused = all.counter(
            "minilab_gateway_sign_ins_refused_total", "Attempts to sign in that were refused.")
        rateLimited = all.counter(
            "minilab_gateway_rate_limited_total", "Requests that were answered with 429.")
    }

    /// Counts an answer.
    func record(
        _ route: String, _ status: HTTPResponse.Status, after time: Duration, signsIn: Bool = false
    ) {
        requests.add(1, route, "\(status.code / 100)xx")
        seconds.record(time / .seconds(1), route)
        if status == .tooManyRequests { rateLimited.add() }
        if signsIn, status.kind == .clientError { signInsRefused.add() }
    }

    /// A file or a list of members begins, or has ended.
    func uploads(_ change: Double) { uploads.add(change) }
    /// A replay begins, or has ended.
    func replays(_ change: Double) { replays.add(change) }
    /// Bytes of a body have come.
    func receives(_ bytes: Int) { received.add(Double(bytes)) }
    /// Bytes of a body go.
    func sends(_ bytes: Int) { sent.add(Double(bytes)) }

    /// All of them as they are now.
    package func families() -> [MetricFamily] { all.families() }
}
