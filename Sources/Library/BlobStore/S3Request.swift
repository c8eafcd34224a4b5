import AsyncHTTPClient
import Edits
import NIOCore
import NIOHTTP1
import Tracing

/// A request to a store, without time, signature and host.
struct S3Request: Sendable {
    enum Body: Sendable {
        case none
        case bytes([UInt8])
        case range(BlobSource, Range<Int>, BlobDigest)
    }

    var method: HTTPMethod
    /// The object; nil means the bucket.
    var key: BlobKey?
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var body = Body.none
    /// The right that it needs, by its name in policies.
    var right: String
    /// Whether the answer to a repeat may be the result of its own first attempt.
    var isConditional = false
    /// The code for a failed condition. For writes it means that nothing was written.
    var failedCondition = BlobErrorCode.precondition

    private var payload: String {
        switch body {
        case .none: SignableRequest.emptyPayload
        case .bytes(let bytes): BlobDigest(of: bytes).hex
        case .range(_, _, let digest): digest.hex
        }
    }

    /// Returns the parts that are signed: everything that is sent.
    func signable(at location: S3Location) -> SignableRequest {
        let payload = payload
        return SignableRequest(
            method: method.rawValue, path: location.path(key), query: query,
            headers: [("host", location.authority), ("x-amz-content-sha256", payload)] + headers,
            payload: payload)
    }

    /// Returns the signed HTTP request.
    func http(
        at location: S3Location, signed signer: SigV4, time: BlobTime, key signingKey: [UInt8]
    ) -> HTTPClientRequest {
        let signable = signable(at: location)
        let query = signable.canonicalQuery
        var http = HTTPClientRequest(
            url: "\(location.scheme)://\(location.authority)\(signable.path)"
                + (query.isEmpty ? "" : "?\(query)"))
        http.method = method
        let signature = signer.headers(signing: signable, at: time, key: signingKey)
        for (name, value) in signable.headers + signature {
            http.headers.add(name: name, value: value)
        }
        switch body {
        case .none:
            // Stores expect a length of 0 for a PUT or a POST without a body.
            if method == .PUT || method == .POST { http.body = .bytes(ByteBuffer()) }
        case .bytes(let bytes): http.body = .bytes(ByteBuffer(bytes: bytes))
        case .range(let source, let range, _):
            http.body = .stream(
                source.pieces(of: range), length: .known(Int64(range.count)))
        }
        return http
    }
}

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

/// The URLs of objects, for one region.
struct S3Location: Sendable, Hashable {
    /// The first region if none is configured. Stores without regions accept it, and Amazon's
    /// answers with the correct one.
    static let defaultRegion = "us-east-1"

    let url: BlobURL
    var region: String

    init(_ url: BlobURL) {
        self.url = url
        region = url.region ?? Self.defaultRegion
    }

    /// The position of the bucket's name in requests.
    var style: BlobURL.Style {
        if let style = url.style { return style }
        let isAmazon = url.endpoint?.host.hasSuffix(".amazonaws.com") ?? true
        // A certificate for *.s3.amazonaws.com is not valid for a name with more dots.
        return isAmazon && !url.bucket.contains(".") ? .virtual : .path
    }

    /// The server, without the bucket.
    private var endpoint: BlobURL.Endpoint {
        if let endpoint = url.endpoint { return endpoint }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        return BlobURL.Endpoint(usesTLS: true, host: "s3.\(region).\(domain)", port: nil)
    }

    var scheme: String { endpoint.usesTLS ? "https" : "http" }

    var authority: String {
        style == .virtual ? "\(url.bucket).\(endpoint.authority)" : endpoint.authority
    }

    /// Returns the whole key in the bucket.
    func fullKey(_ text: String) -> String {
        url.prefix.isEmpty ? text : text.isEmpty ? url.prefix + "/" : "\(url.prefix)/\(text)"
    }

    /// Returns the path of an object, or of the bucket, encoded as it is signed and sent.
    func path(_ key: BlobKey?) -> String {
        let bucket = style == .path ? "/" + url.bucket : ""
        guard let key else { return bucket.isEmpty ? "/" : bucket }
        return bucket + "/" + fullKey(key.text).percentEncoded(keeping: "/")
    }

    /// Returns the name of an object, or of the bucket, for messages.
    func name(_ key: BlobKey?) -> String {
        "s3://\(url.bucket)" + (key.map { "/" + fullKey($0.text) } ?? "")
    }

    /// Returns the key below the store's prefix; nil for an object outside it.
    func key(ofListed full: String) -> BlobKey? {
        let start = fullKey("")
        guard full.hasPrefix(start), full.utf8.count > start.utf8.count else { return nil }
        return BlobKey(listed: String(full.dropFirst(start.count)))
    }
}
