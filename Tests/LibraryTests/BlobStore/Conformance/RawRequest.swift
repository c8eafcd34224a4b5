import Edits
import MinilabTesting

@testable import BlobStore

/// A request as it is written down, to try what our client would never send.
///
/// `{name}` stands for a value that an earlier answer had.
struct RawRequest: Sendable {
    var method: String
    /// The object; nil means the bucket.
    var key: String?
    var query: [String] = []
    var headers: [String] = []
    var body = ""
    var keys: StoreKeys? = .admin
    var region = "us-east-1"
    /// Seconds that the signing clock is ahead.
    var clock = 0
    /// The text that is signed instead of the body's digest.
    var payload: String?
    /// Text of the request after it was signed, and what it is replaced by.
    var change: (from: String, to: String) = ("", "")
    /// How many bytes of the body are sent before the connection ends; nil means all.
    var sent: Int?
    /// Headers of the answer that are compared.
    var shows: [String] = []
    /// Values of the answer that later requests use: an element's name, or a header's with a colon.
    var remembers: [String] = []

    init(_ method: String, _ key: String?, _ set: (inout RawRequest) -> Void = { _ in }) {
        (self.method, self.key) = (method, key)
        set(&self)
    }

    private static let filledBytesMax = 65_536

    /// The bytes to send.
    func text(at store: TestStoreLocation, _ known: [String: String]) -> String {
        func filled(_ text: String) -> String {
            // Bodies of MiB name nothing.
            text.utf8.count > Self.filledBytesMax
                ? text : known.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
        }
        func pair(_ text: String, _ separator: Character) -> (name: String, value: String) {
            let parts = text.split(separator: separator, maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? filled(String(parts[1])) : "")
        }
        let body = filled(body)
        let payload = payload ?? BlobDigest(of: body.utf8).hex
        var path = "/\(store.bucket)"
        if let key {
            path += "/" + "\(store.prefix)/\(key)".percentEncoded(keeping: "/")
        }
        let request = SignableRequest(
            method: method, path: path, query: query.map { pair($0, "=") },
            headers: [("host", "127.0.0.1:\(store.port)"), ("x-amz-content-sha256", payload)]
                + headers.map { pair($0, ":") }, payload: payload)
        var signature: [(name: String, value: String)] = []
        if let keys {
            let signer = SigV4(
                credentials: Credentials(accessKey: keys.accessKey, secretKey: keys.secretKey),
                region: region)
            let now = ClientRuntime.real.now().seconds
            signature = signer.headers(signing: request, at: BlobTime(seconds: now + clock))
        }
        let lines = (request.headers + signature).map { "\($0.name): \($0.value)\r\n" }.joined()
        let question = request.query.isEmpty ? "" : "?" + request.canonicalQuery
        // HTTP/1.0, so that the server closes.
        let head =
            "\(method) \(path)\(question) HTTP/1.0\r\n\(lines)content-length: \(body.utf8.count)\r\n\r\n"
        let text = change.from.isEmpty ? head : head.replacing(change.from, with: change.to)
        return text + (sent.map { String(body.prefix($0)) } ?? body)
    }
}

/// The location of a test in a store, as raw requests name it.
struct TestStoreLocation: Sendable {
    let bucket: String
    let prefix: String
    let port: Int
}

extension RawRequest {
    /// The MD5 of a text, in hexadecimal digits.
    static func md5(_ text: String) -> String {
        MD5.hash(data: text.utf8).hex
    }
}
