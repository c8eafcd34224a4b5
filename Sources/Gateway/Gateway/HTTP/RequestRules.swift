package import Edits
package import NIOCore
import NIOHTTP1

/// The rules that a request's head must meet before any work is done for it.
///
/// If either a proxy or this server is lenient, they may parse a request differently: bytes that one reads as a body
/// are the next request to the other. So a request is refused wherever RFC 9112 leaves its meaning open or lets a
/// server repair it.
struct RequestRules: Sendable {
    let limits: BorderLimits

    /// Returns the refusal of a request that breaks a rule; nil if it breaks none.
    func refusal(of head: HTTPRequestHead) -> RequestRefusal? {
        if let refusal = refusal(ofTarget: head) { return refusal }
        var bytes = 0
        var count = 0
        for (name, value) in head.headers {
            bytes += name.utf8.count + value.utf8.count
            count += 1
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isToken) else {
                return .malformed("the name of a header field has characters that are not allowed.")
            }
            guard value.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
                return .malformed("the header field \(name) has control characters.")
            }
        }
        guard bytes <= limits.headerBytesMax, count <= limits.headerFieldsMax else {
            return RequestRefusal(
                .requestHeaderFieldsTooLarge, "oversizedHeader",
                "the header has \(count) fields with \(bytes) bytes; at most \(limits.headerFieldsMax) and "
                    + "\(limits.headerBytesMax) are allowed.")
        }
        return refusal(ofHost: head.headers["host"]) ?? refusal(ofFraming: head)
            ?? refusal(ofExpectations: head)
    }

    private func refusal(ofTarget head: HTTPRequestHead) -> RequestRefusal? {
        guard head.version == .http1_1 || head.version == .http1_0 else {
            return RequestRefusal(HTTPParserError.invalidVersion)
        }
        guard head.method != .CONNECT else {
            return RequestRefusal(.notImplemented, "unsupportedMethod", "this server is no proxy.")
        }
        let target = head.uri.utf8
        guard target.count <= limits.targetBytesMax else {
            return RequestRefusal(
                .uriTooLong, "oversizedTarget",
                "the target has \(target.count) bytes; at most \(limits.targetBytesMax) are allowed."
            )
        }
        guard target.first == UInt8(ascii: "/") else {
            return .malformed(
                "the target does not begin with a slash; this server is no proxy and has no other targets."
            )
        }
        guard target.allSatisfy({ (33...126).contains($0) && $0 != UInt8(ascii: "#") }) else {
            return .malformed("the target has characters that must be percent-encoded.")
        }
        return nil
    }

    private func refusal(ofHost hosts: [String]) -> RequestRefusal? {
        guard hosts.count == 1 else {
            return .malformed("the request has \(hosts.count) Host fields; it needs exactly one.")
        }
        let host = hosts[0].utf8
        guard !host.isEmpty, host.allSatisfy(Self.isHost) else {
            return .malformed("the Host field is no host.")
        }
        return nil
    }

    private func refusal(ofFraming head: HTTPRequestHead) -> RequestRefusal? {
        let codings = head.headers["transfer-encoding"]
        let lengths = head.headers["content-length"]
        if !codings.isEmpty {
            guard head.version == .http1_1 else {
                return .malformed("HTTP/1.0 has no Transfer-Encoding.")
            }
            guard lengths.isEmpty else {
                return .malformed("the request has both Transfer-Encoding and Content-Length.")
            }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                return RequestRefusal(
                    .notImplemented, "unsupportedTransferCoding",
                    "the only Transfer-Encoding of a request is \"chunked\".")
            }
        }
        guard lengths.count <= 1,
            lengths.allSatisfy({
                !$0.isEmpty && $0.utf8.count < 19 && $0.utf8.allSatisfy(Self.isDigit)
            })
        else {
            return .malformed("the Content-Length is not one number.")
        }
        let hasBody = !codings.isEmpty || lengths.contains { $0 != "0" }
        if hasBody, !head.headers["content-encoding"].allSatisfy({ $0.lowercased() == "identity" })
        {
            return RequestRefusal(
                .unsupportedMediaType, "unsupportedContentCoding",
                "bodies are taken as they are, without Content-Encoding.")
        }
        return nil
    }

    private func refusal(ofExpectations head: HTTPRequestHead) -> RequestRefusal? {
        guard head.headers["expect"].allSatisfy({ $0.lowercased() == "100-continue" }) else {
            return RequestRefusal(
                .expectationFailed, "unknownExpectation",
                "the only expectation that can be met is 100-continue.")
        }
        // The parser stops after such a request and buffers all further bytes.
        guard !head.headers.contains(name: "upgrade") else {
            return RequestRefusal(
                .notImplemented, "unsupportedUpgrade", "this server upgrades no connection.")
        }
        return nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    /// Returns whether a token may have this byte (RFC 9110, 5.6.2).
    private static func isToken(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Returns whether a host may have this byte: those of names, IPv4 and IPv6 addresses and a port, and none that
    /// could change the structure of a URL.
    private static func isHost(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._:[]%~".utf8.contains(byte)
    }
}

/// The refusal of a request before any handler sees it. The connection is closed after it.
struct RequestRefusal: Error, Sendable, Equatable {
    let status: HTTPResponseStatus
    let code: String
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

/// The limits of the gateway's HTTP server on bytes, time and counts.
package struct BorderLimits: Sendable {
    /// The most bytes of a request target, still percent-encoded.
    package var targetBytesMax = 8 << 10
    /// The most bytes of all names and values of a request's header fields.
    package var headerBytesMax = 16 << 10
    /// The most header fields of a request.
    package var headerFieldsMax = 100
    /// The most requests on a connection; the response to the last one announces the close.
    package var requestsMax = 10_000
    /// The most open connections; a further one replaces one of them (``OpenConnections``).
    package var connectionsMax = 4_096

    /// The longest time from the first byte of a request to the end of its header.
    package var headerTime = TimeAmount.seconds(10)
    /// The longest time without a request.
    package var idleTime = TimeAmount.seconds(60)
    /// Time that a body may take beyond its length divided by ``bytesPerSecondMin``.
    package var transferGrace = TimeAmount.seconds(5)
    /// The lowest allowed rate in bytes a second, in both directions. Kestrel has the same number.
    package var bytesPerSecondMin = 240
    /// The longest time of a body. One with an announced length must come faster than ``bytesPerSecondMin``, 4 GB with 1.2 MB a
    /// second: at 240 bytes a second, 4 GB would hold a connection and a part of the disk for 200 days. One without a length ends then.
    package var bodyTimeMax = TimeAmount.hours(1)
    /// The body up to which bytes are read before a handler asks for them; of a longer one, a call that is refused holds nothing.
    package var unaskedBytesMax = 64 << 10
    /// The most bytes of one read. Some ten reads of a body wait for their handler.
    package var readBytesMax = 32 << 10

    /// The longest stall of a request's body, however fast it was before.
    package var stallMax = TimeAmount.seconds(60)

    /// The longest time for which the bytes of a refused request are discarded so that its client can read the refusal.
    /// Closing a connection with unread bytes would reset it (RFC 9112, 9.6).
    package var lingerTime = TimeAmount.seconds(2)
    /// The most bytes that are discarded so.
    package var lingerBytesMax = 4 << 20

    package init() {}
}

/// The asset that the tail of a request's path names.
package enum TargetPath {
    /// Percent-decodes a path once and validates the result.
    ///
    /// The result is never decoded again, so a name may look like an escape: `%2541.jpg` names `%41.jpg`.
    ///
    /// - Parameter tail: the path behind the route's own part, still percent-encoded, without the query.
    /// - Throws: `invalidValue` if the path has a bare backslash, which some clients take for a slash, or the result is not text; as
    ///   ``AssetPath``.
    package static func asset(_ tail: Substring) throws(Failure) -> AssetPath {
        guard let text = String(tail).percentDecoded else {
            throw Failure(
                .invalidValue,
                "the path has a percent sign without two hexadecimal digits behind it, or is not UTF-8 when it is decoded."
            )
        }
        guard !tail.utf8.contains(UInt8(ascii: "\\")) else {
            throw Failure(
                .invalidValue, "the path has a backslash. In an asset's name it is written %5C.")
        }
        return try AssetPath(text)
    }
}
