import NIOHTTP1
import Tracing

/// The attributes of a request in its span. They contain no header, no query and no part of a signature.
///
/// Names are OpenTelemetry's: <https://opentelemetry.io/docs/specs/semconv/http/http-spans/> and `…/object-stores/s3/`.
extension S3Request {
    /// - Parameter failures: attempts of the same request that came to nothing before.
    func attributes(at location: S3Location, failures: Int) -> SpanAttributes {
        var attributes: SpanAttributes = [
            "http.request.method": .string(method.rawValue),
            "server.address": .string(location.authority), "url.scheme": .string(location.scheme),
            "aws.s3.bucket": .string(location.url.bucket), "minilab.store.right": .string(right),
        ]
        if let key { attributes["aws.s3.key"] = location.fullKey(key.text) }
        if failures > 0 { attributes["http.request.resend_count"] = failures }
        return attributes
    }
}

extension AttemptFailure {
    /// Says what an attempt came to. A store's sentence is not passed on: it may quote what was signed.
    func note(in span: any Span) {
        guard span.isRecording else { return }
        switch self {
        case .refused(let refusal):
            if let code = refusal.code { span.attributes["aws.s3.error_code"] = code }
        case .transport(let failure): span.attributes["minilab.transport"] = "\(failure.kind)"
        case .local, .senseless, .final: break
        }
    }
}
