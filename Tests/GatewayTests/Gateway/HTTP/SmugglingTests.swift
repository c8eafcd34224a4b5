import Foundation
import MinilabTesting
import Testing

@testable import Gateway

/// Requests that two readers may read differently, over a raw socket, each with another request behind it.
@Suite("Smuggling") struct SmugglingTests {
    struct Hostile: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        let text: String
        var testDescription: String { name }
    }

    static let hostile: [Hostile] = [
        Hostile(name: "no Host", status: 400, text: "GET /a HTTP/1.1\r\n\r\n"),
        Hostile(
            name: "two Hosts", status: 400, text: "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        Hostile(
            name: "two equal Hosts", status: 400,
            text: "GET /a HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
        Hostile(name: "an empty Host", status: 400, text: "GET /a HTTP/1.1\r\nHost:\r\n\r\n"),
        Hostile(
            name: "a Host with a path", status: 400, text: "GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        Hostile(
            name: "a Host with a user", status: 400, text: "GET /a HTTP/1.1\r\nHost: a@b\r\n\r\n"),
        Hostile(
            name: "xchunked", status: 501,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"),
        Hostile(
            name: "gzip, chunked", status: 501,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
        ),
        Hostile(
            name: "chunked twice", status: 400,
            text:
                "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        Hostile(
            name: "chunked, identity", status: 400,
            text:
                "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"
        ),
        Hostile(
            name: "a length and chunks", status: 400,
            text:
                "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        Hostile(
            name: "chunks and a length", status: 400,
            text:
                "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
        ),
        Hostile(
            name: "chunks of HTTP/1.0", status: 400,
            text: "POST /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Hostile(
            name: "two lengths", status: 400,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"),
        Hostile(
            name: "a length with a sign", status: 400,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello"),
        Hostile(
            name: "a negative length", status: 400,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nhello"),
        Hostile(
            name: "a hexadecimal length", status: 400,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello"),
        Hostile(
            name: "a list of lengths", status: 400,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello"),
        Hostile(
            name: "a length beyond all numbers", status: 400,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        Hostile(name: "lines that end bare", status: 505, text: "GET /a HTTP/1.1\nHost: a\n\n"),
        Hostile(
            name: "a folded line", status: 400,
            text: "GET /a HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"),
        Hostile(
            name: "a space before the colon", status: 400,
            text: "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello"),
        Hostile(
            name: "a NUL in a value", status: 400,
            text: "GET /a HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"),
        Hostile(
            name: "a bell in a value", status: 400,
            text: "GET /a HTTP/1.1\r\nHost: a\r\nX: b\u{7}c\r\n\r\n"),
        Hostile(
            name: "a bare CR in a value", status: 400,
            text: "GET /a HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n"),
        Hostile(
            name: "an absolute target", status: 400,
            text: "GET http://b/a HTTP/1.1\r\nHost: a\r\n\r\n"),
        Hostile(
            name: "an authority as target", status: 501,
            text: "CONNECT b:80 HTTP/1.1\r\nHost: b:80\r\n\r\n"),
        Hostile(
            name: "a star as target", status: 400, text: "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
        Hostile(
            name: "a raw byte in a target", status: 400,
            text: "GET /\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n"),
        Hostile(name: "a fragment", status: 400, text: "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        Hostile(
            name: "a long target", status: 414,
            text: "GET /\(String(repeating: "a", count: 8 << 10)) HTTP/1.1\r\nHost: a\r\n\r\n"),
        Hostile(
            name: "a large header", status: 431,
            text:
                "GET /a HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 17 << 10))\r\n\r\n"
        ),
        Hostile(
            name: "a header of large sum", status: 431,
            text:
                "GET /a HTTP/1.1\r\nHost: a\r\n\((0..<20).map { "X\($0): \(String(repeating: "a", count: 1 << 10))\r\n" }.joined())\r\n"
        ),
        Hostile(
            name: "101 fields", status: 431,
            text: "GET /a HTTP/1.1\r\nHost: a\r\n\((0..<100).map { "X\($0): a\r\n" }.joined())\r\n"),
        Hostile(
            name: "a compressed body", status: 415,
            text:
                "POST /count HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
        ),
        Hostile(
            name: "another expectation", status: 417,
            text: "POST /count HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 5\r\n\r\nhello"
        ),
        Hostile(
            name: "an upgrade", status: 501,
            text: "GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
        Hostile(name: "another version", status: 505, text: "GET /a HTTP/2.0\r\nHost: a\r\n\r\n"),
        Hostile(name: "no HTTP", status: 400, text: "\u{16}\u{3}\u{1}\0\u{1}\r\n\r\n"),
        Hostile(
            name: "a wrong chunk behind a head is the body's", status: 0,
            text: "POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    ]

    private static let behind = "GET /smuggled HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test(arguments: hostile)
    func `is refused, and nothing behind it is a request`(_ hostile: Hostile) async throws {
        let server = try await BorderServer.plain()
        let answer = try await HTTPExchange.send(
            hostile.text + Self.behind, port: server.port, ending: true)
        #expect(answer.status ?? 0 == hostile.status, "\(answer.text)")
        #expect(!server.paths.contains("/smuggled"))
        if hostile.status > 0 {
            #expect(server.paths.isEmpty)
            #expect(answer.text.contains("\r\nConnection: close\r\n"))
            #expect(answer.text.contains("application/problem+json"))
            #expect(answer.text.components(separatedBy: "Content-Length: ").count == 2)
        }
    }

    @Test func `a refusal comes behind the answers to the requests before it`() async throws {
        let server = try await BorderServer.plain()
        let answer = try await HTTPExchange.send(
            "GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\n\r\n" + Self.behind,
            port: server.port)
        #expect(answer.text.hasPrefix("HTTP/1.1 200 OK"))
        #expect(answer.text.contains("helloHTTP/1.1 400"))
        #expect(server.paths == ["/first"])
    }

    @Test func `requests in a row on one connection are all answered`() async throws {
        let server = try await BorderServer.plain()
        let row =
            "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
            + "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
            + "POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
            + Self.behind
        let answer = try await HTTPExchange.send(row, port: server.port)
        #expect(answer.text.contains("5 bytes") && answer.text.contains("3 bytes"))
        #expect(server.paths == ["/a", "/count", "/count", "/smuggled"])
    }

    @Test func `nothing behind a request that says close is a request`() async throws {
        let server = try await BorderServer.plain()
        let answer = try await HTTPExchange.send(
            "GET /a HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n" + Self.behind,
            port: server.port)
        #expect(answer.status == 200)
        #expect(server.paths == ["/a"])
    }

    @Test func `an answer to HEAD has no body, whatever its handler writes`() async throws {
        let server = try await BorderServer.plain()
        let answer = try await HTTPExchange.send(
            "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n" + Self.behind, port: server.port)
        #expect(answer.body.hasPrefix("HTTP/1.1 200"))
        #expect(answer.text.components(separatedBy: "Content-Length: 5").count == 3)
        #expect(answer.text.components(separatedBy: "hello").count == 2)
    }

    @Test func `HTTP/1.0 is answered without chunks, and the connection closed`() async throws {
        let server = try await BorderServer.plain()
        let answer = try await HTTPExchange.send(
            "GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n" + Self.behind,
            port: server.port)
        #expect(answer.text.hasPrefix("HTTP/1.0 200"))
        #expect(!answer.text.lowercased().contains("transfer-encoding"))
        #expect(server.paths == ["/a"])
    }

    @Test func `a connection carries so many requests and no more`() async throws {
        var limits = BorderLimits()
        limits.requestsMax = 2
        let server = try await BorderServer.plain(limits)
        let answer = try await HTTPExchange.send(
            String(repeating: "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", count: 3), port: server.port)
        #expect(server.paths == ["/a", "/a"])
        #expect(answer.text.components(separatedBy: "Connection: close").count == 2)
    }
}
