import AccessKeys
import Foundation
import HTTPTypes
import Logging
import JobQueue
import MinilabTesting
import Telemetry
import Testing

@testable import Gateway
@testable import Webhooks

@Suite("Metrics of the gateway") struct GatewayMetricsTests {
    /// The value of a line, nil when there is none.
    private func value(_ series: String, in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .flatMap { Double($0.dropFirst(series.count + 1)) }
    }

    @Test func `all that a gateway can tell passes promtool`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.read])
        _ = try await rig.send("GET", "/v1/queue", key: key)
        for route in RouteTable.routes {
            for status in [200, 302, 404, 429, 500] {
                rig.parts.metrics.record(
                    route.name, .init(code: status), after: .milliseconds(status), signsIn: true)
            }
        }
        let families =
            rig.parts.metrics.families() + rig.gateway.gauges() + WebhookMetrics().families
        let text = Exposition.text(families)
        try PromTool.checkMetrics(text)
        #expect(!text.contains(#""other""#), "a series of a route went over the limit")
        #expect(families.allSatisfy { $0.name.hasPrefix("minilab_") })
    }

    @Test func `requests are counted by the name of their route, never by path`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.read])
        for id in ["order-1", "order-2"] {
            _ = try await rig.send("GET", "/v1/jobs/\(id)", key: key)
        }
        _ = try await rig.send("GET", "/v1/jobs/order-3")
        _ = try await rig.send("GET", "/secret/of/somebody")
        let text = Exposition.text(rig.parts.metrics.families())
        #expect(
            value(#"minilab_gateway_requests_total{route="readJob",code="4xx"}"#, in: text) == 3)
        #expect(value(#"minilab_gateway_requests_total{route="none",code="4xx"}"#, in: text) == 1)
        #expect(value(#"minilab_gateway_request_seconds_count{route="readJob"}"#, in: text) == 3)
        #expect(!text.contains("order-") && !text.contains("secret"))
    }

    @Test
    func `a malformed chunk is counted, and is the client's fault and no error of the gateway`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.enqueue])
        let series = "minilab_gateway_broken_bodies_total"
        let before = Exposition.text(rig.parts.metrics.families())
        #expect(value(series, in: before) == 0)
        _ = try await HTTPExchange.send(
            "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            port: rig.port, ending: true)
        let text = try await eventually("the body is counted") {
            let text = Exposition.text(rig.parts.metrics.families())
            return value(series, in: text) == 1 ? text : nil
        }
        #expect(
            value(#"minilab_gateway_requests_total{route="submitJob",code="5xx"}"#, in: text) == nil
        )
        #expect(Problem(BodyRefusal.broken("x")).status == .badRequest)
    }

    @Test func `bodies, refusals of sign-ins and of a fast key are counted`() async throws {
        let rig = try await GatewayRig { $0.requestsPerSecond = 1 }
        let key = try await rig.key(scopes: [.enqueue, .read])
        let answer = try await rig.send("POST", "/v1/jobs", key: key, json: #"{"nonsense": 1}"#)
        var limited = 0
        for _ in 0..<3 where try await rig.send("GET", "/v1/jobs/a", key: key).status == 429 {
            limited += 1
        }
        let text = Exposition.text(rig.parts.metrics.families())
        #expect(value("minilab_gateway_received_bytes_total", in: text) == 15)
        #expect(
            try #require(value("minilab_gateway_sent_bytes_total", in: text))
                >= Double(answer.text.utf8.count))
        #expect(value("minilab_gateway_rate_limited_total", in: text) == Double(limited))
        #expect(limited > 0)
        #expect(value("minilab_gateway_uploads_open", in: text) == 0)
    }

    @Test func `the routes that the alert of slowness leaves out are there`() throws {
        let alerts = try Page("ops/monitoring/alerts.yml").text
        let list = try #require(alerts.firstMatch(of: /route!~"([^"]+)"/)).1
        let names = Set(RouteTable.routes.map(\.name))
        for pattern in list.split(separator: "|") {
            let prefix = pattern.hasSuffix(".*") ? pattern.dropLast(2) : pattern
            #expect(names.contains { $0.hasPrefix(prefix) }, "no route has the name \(pattern)")
        }
    }

    @Test func `the status port says metrics, health and readiness`() async throws {
        let rig = try await GatewayRig()
        let server = try await StatusServer.open(
            host: "127.0.0.1", port: 0, pages: rig.gateway.statusPages(),
            logger: Logger(label: "test"))
        let port = try #require(server.address.split(separator: ":").last.flatMap { Int($0) })
        let metrics = try await HTTPExchange.get("/metrics", port: port)
        #expect(metrics.body.contains("minilab_gateway_ready 1\n"))
        #expect(metrics.body.contains("minilab_gateway_streams_max 2400\n"))
        #expect(metrics.body.contains("minilab_gateway_connections_max 4096\n"))
        #expect(metrics.body.contains(#"minilab_gateway_share_refused_total{of="streams"} 0"#))
        #expect(metrics.body.contains("minilab_gateway_webhook_lag_seconds 0\n"))
        for page in ["/healthz", "/readyz"] {
            #expect(try await HTTPExchange.get(page, port: port).status == 200)
        }
        await server.close()
    }

    @Test func `a gateway whose Redis has gone is alive and not ready`() async throws {
        let redis = try await RedisServer.start()
        let rig = try await GatewayRig(on: redis)
        redis.kill(SIGKILL)
        try await eventually("the gateway notices") { [parts = rig.parts] in
            parts.events.hub.hasContact ? nil : true
        }
        let report = rig.gateway.readiness
        #expect(!report.ok)
        #expect(report.problems.first?.what == "Redis does not answer reads of events")
        #expect(Exposition.text(rig.gateway.gauges()).contains("minilab_gateway_ready 0\n"))
    }
}
