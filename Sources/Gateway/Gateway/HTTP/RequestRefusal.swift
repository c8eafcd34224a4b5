import Edits
import NIOCore
import NIOHTTP1

/// The refusal of a request before any handler sees it. The connection is closed after it.
struct RequestRefusal: Error, Sendable, Equatable {
    /// The status of the response.
    let status: HTTPResponseStatus
    /// The reason as a code for programs.
    let code: String
    /// The reason as text for people.
    let detail: String

    init(_ status: HTTPResponseStatus, _ code: String, _ detail: String) {
        (self.status, self.code, self.detail) = (status, code, detail)
    }

    static func malformed(_ detail: String) -> RequestRefusal {
        RequestRefusal(.badRequest, "malformedRequest", detail)
    }

    /// Returns the refusal for an error of the parser.
    init(_ error: any Error) {
        switch error as? HTTPParserError {
        case .headerOverflow:
            self.init(
                .requestHeaderFieldsTooLarge, "oversizedHeader",
                "the request has too many header fields, or too long ones.")
        case .invalidVersion:
            self.init(
                .httpVersionNotSupported, "unsupportedVersion",
                "this server speaks HTTP/1.1 and HTTP/1.0.")
        default: self = .malformed("the request is not HTTP as RFC 9112 has it.")
        }
    }

    /// The body of the response, as a problem (RFC 9457).
    var body: ByteBuffer {
        let members: [String: JSONValue] = [
            "type": .string("/problems/\(code)"), "title": .string(status.reasonPhrase),
            "status": .number(Double(status.code)), "code": .string(code),
            "detail": .string(detail),
        ]
        return ByteBuffer(string: JSONValue.object(members).canonical)
    }

    var head: HTTPResponseHead {
        HTTPResponseHead(
            version: .http1_1, status: status,
            headers: [
                "Content-Type": "application/problem+json",
                "Content-Length": "\(body.readableBytes)", "Connection": "close",
            ])
    }
}
