import AsyncHTTPClient
import Edits
import NIOCore
import NIOHTTP1

/// A request to a store, without time, signature and host.
struct S3Request: Sendable {
    enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A range of a source, with the digest of that range.
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
    var failedCondition = BlobError.Code.precondition

    /// The body's digest.
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
