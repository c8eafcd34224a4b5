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
