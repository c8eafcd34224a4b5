import Edits
import HTTPTypes
import Hummingbird
import Telemetry
import Tracing

/// The span of a request, which is a part of its client's trace if the client sent a `traceparent`.
///
/// Names are OpenTelemetry's (<https://opentelemetry.io/docs/specs/semconv/http/http-spans/>). Neither the path is said,
/// which names jobs and assets, nor the query.
enum RequestSpan {
    /// Answers a request within its span.
    static func around(
        _ route: Route, _ request: Request, _ answer: () async -> Response
    ) async -> Response {
        // More than one is none, as the specification says.
        let sent = request.headers[values: .traceparent]
        let parent = sent.count == 1 ? Traceparent(sent[0]) : nil
        let attributes: SpanAttributes = [
            "http.request.method": .string(request.method.rawValue),
            "http.route": .string(route.path),
        ]
        let name = "\(route.method.rawValue) \(route.path)"
        return await inSpan(name, .server, in: .following(parent), with: attributes) { span in
            let response = await answer()
            span.attributes["http.response.status_code"] = Int(response.status.code)
            if response.status.kind == .serverError {
                span.setStatus(SpanStatus(code: .error))
                span.attributes["error.type"] = "\(response.status.code)"
            }
            return response
        }
    }
}
