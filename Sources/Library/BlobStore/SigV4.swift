import Edits

/// AWS Signature Version 4 for one set of credentials in one region.
///
/// Source: AWS, "Create a signed AWS API request". It does no I/O.
struct SigV4: Sendable {
    let credentials: Credentials
    let region: String
    var service = "s3"

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// Returns the headers that sign `request`.
    ///
    /// - Parameter key: The day's key, if it is cached; see ``signingKey(day:)``.
    func headers(
        signing request: SignableRequest, at time: BlobTime, key: [UInt8]? = nil
    ) -> [(name: String, value: String)] {
        var added = [(name: "x-amz-date", value: time.stamp)]
        if let token = credentials.sessionToken { added.append(("x-amz-security-token", token)) }
        var request = request
        request.headers += added
        let (text, signedHeaders) = request.canonical()
        let signature = signature(of: text, at: time, key: key)
        added.append(
            (
                "authorization",
                "\(Self.algorithm) Credential=\(credentials.accessKey)/\(scope(time)),"
                    + "SignedHeaders=\(signedHeaders),Signature=\(signature)"
            ))
        return added
    }

    /// Returns the query of a URL that any client may use until it expires.
    ///
    /// - Parameters:
    ///   - request: The request, with `host` as its only header and
    ///     ``SignableRequest/unsignedPayload``.
    ///   - seconds: The validity, counted from `time`.
    func presignedQuery(
        for request: SignableRequest, at time: BlobTime, seconds: Int
    ) -> String {
        var request = request
        request.query += [
            ("X-Amz-Algorithm", Self.algorithm),
            ("X-Amz-Credential", "\(credentials.accessKey)/\(scope(time))"),
            ("X-Amz-Date", time.stamp),
            ("X-Amz-Expires", String(seconds)),
            ("X-Amz-SignedHeaders", request.canonicalHeaders.map(\.name).joined(separator: ";")),
        ]
        if let token = credentials.sessionToken {
            request.query.append(("X-Amz-Security-Token", token))
        }
        let signature = signature(of: request.canonical().text, at: time, key: nil)
        return request.canonicalQuery + "&X-Amz-Signature=\(signature)"
    }

    /// Returns the key that signs all requests of a day, `20150830`, in this region.
    ///
    /// It needs four HMACs. A client caches it as long as day, region and credentials are the
    /// same.
    func signingKey(day: some StringProtocol) -> [UInt8] {
        let first = Array("AWS4\(credentials.secretKey)".utf8)
        return [String(day), region, service, "aws4_request"].reduce(first) { key, component in
            HMAC.sha256(of: component.utf8, key: key)
        }
    }

    private func signature(of text: String, at time: BlobTime, key: [UInt8]?) -> String {
        let digest = SHA256.hash(data: text.utf8).hex
        let toSign = [Self.algorithm, time.stamp, scope(time), digest].joined(separator: "\n")
        let key = key ?? signingKey(day: time.stamp.prefix(8))
        return HMAC.sha256(of: toSign.utf8, key: key).hex
    }

    private func scope(_ time: BlobTime) -> String {
        "\(time.stamp.prefix(8))/\(region)/\(service)/aws4_request"
    }
}

/// The parts of an HTTP request that a signature covers.
///
/// Source: Amazon S3 API reference, "Signature Calculations for the Authorization Header". As S3
/// requires, the path is encoded once and never normalised.
struct SignableRequest: Sendable {
    var method: String
    /// The path, percent-encoded, beginning with `/`.
    var path: String
    /// The unencoded names and values, in any order.
    var query: [(name: String, value: String)] = []
    /// The headers to sign, including `host`.
    var headers: [(name: String, value: String)]
    /// The body's digest in hexadecimal, or `UNSIGNED-PAYLOAD`.
    var payload: String

    /// The payload of a request whose body is not digested, as in presigned URLs.
    static let unsignedPayload = "UNSIGNED-PAYLOAD"

    /// The digest of an empty body.
    static let emptyPayload = SHA256.hash(data: [UInt8]()).hex

    /// The query in the form of a URL, sorted.
    var canonicalQuery: String {
        query
            .map { ($0.name.percentEncoded(), $0.value.percentEncoded()) }
            .sorted { $0 < $1 }
            .map { "\($0)=\($1)" }
            .joined(separator: "&")
    }

    /// The headers in lower case, sorted; values with the same name are joined in their order.
    var canonicalHeaders: [(name: String, value: String)] {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in headers {
            let name = name.lowercased()
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(Self.trimmed(value))
        }
        return names.sorted().map { ($0, values[$0, default: []].joined(separator: ",")) }
    }

    /// Returns the text whose digest is signed, and the names of its headers.
    func canonical() -> (text: String, signedHeaders: String) {
        let headers = canonicalHeaders
        let signedHeaders = headers.map(\.name).joined(separator: ";")
        let lines = headers.map { "\($0.name):\($0.value)\n" }.joined()
        return (
            [method, path, canonicalQuery, lines, signedHeaders, payload].joined(separator: "\n"),
            signedHeaders
        )
    }

    /// Returns `value` without spaces at its ends, and with runs of spaces reduced to one.
    private static func trimmed(_ value: String) -> String {
        value.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }
}
