import Edits

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
            .map { (PercentCoding.encoded($0.name), PercentCoding.encoded($0.value)) }
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
