package import Edits
import HTTPTypes
import Hummingbird
import NIOCore

/// The reason for which a call failed, as RFC 9457 defines it: a code for programs, a sentence for people.
package struct Problem: Error, Sendable {
    let status: HTTPResponse.Status
    /// The code, from ``ProblemCode`` or `FailureCode`.
    package let code: String
    let title: String
    /// A sentence with the failure, the value, the expected value, and a remedy.
    package let detail: String
    /// The faulty place in the body, as a JSON pointer in a URI fragment (RFC 6901 §6).
    var pointer: String?
    /// Further facts of some codes, by field name.
    var facts: [String: JSONValue] = [:]
    /// Header fields of the response.
    var headers = HTTPFields()

    static let contentType = "application/problem+json"

    /// Creates a problem with one of the gateway's own codes.
    init(
        _ code: ProblemCode, _ detail: String, facts: [String: JSONValue] = [:],
        retryAfter seconds: Int? = nil
    ) {
        status = code.status
        self.code = code.rawValue
        title = code.title
        self.detail = detail
        self.facts = facts
        if let seconds { headers[.retryAfter] = "\(max(1, seconds))" }
    }

    /// Creates a problem from a fault of a job, an edit or a photo.
    init(_ failure: Failure, status: HTTPResponse.Status, pointer: String? = nil) {
        self.status = status
        code = failure.code.rawValue
        title = status.reasonPhrase
        detail = failure.message
        self.pointer = pointer
    }

    /// The JSON document.
    package var json: JSONValue {
        var fields = facts
        fields["type"] = .string("/problems/\(code)")
        fields["title"] = .string(title)
        fields["status"] = .number(Double(status.code))
        fields["code"] = .string(code)
        fields["detail"] = .string(detail.printable)
        if let pointer { fields["pointer"] = .string(pointer) }
        return .object(fields)
    }

    /// The HTTP response.
    var response: Response {
        var headers = headers
        headers[.contentType] = Self.contentType
        headers[.cacheControl] = "no-store"
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: json.canonical)))
    }
}
