import Foundation
import Logging
import MinilabTesting
import Testing

@testable import Status

@Suite("The status port") struct StatusServerTests {
    /// Runs a server with one page for the length of a body.
    private func withServer(
        _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await StatusServer.open(
            host: "127.0.0.1", port: 0,
            pages: [StatusPage("/page") { StatusAnswer("text/plain", "as asked\n") }],
            logger: Logger(label: "test"))
        let port = try #require(server.address.split(separator: ":").last.flatMap { Int($0) })
        do {
            try await body(port)
        } catch {
            await server.close()
            throw error
        }
        await server.close()
    }

    @Test func `a page is answered whole, with its type, and the connection ends`() async throws {
        try await withServer { port in
            for path in ["/page", "/page?a=b"] {
                let answer = try await HTTPExchange.get(path, port: port)
                #expect(answer.status == 200)
                #expect(answer.body == "as asked\n")
                #expect(answer.text.contains("Content-Type: text/plain\r\n"))
                #expect(answer.text.contains("Content-Length: 9\r\n"))
                #expect(answer.text.contains("Connection: close\r\n"))
            }
        }
    }

    @Test func `HEAD gets the headers alone`() async throws {
        try await withServer { port in
            let answer = try await HTTPExchange.get("/page", port: port, method: "HEAD")
            #expect(answer.status == 200)
            #expect(answer.text.contains("Content-Length: 9\r\n"))
            #expect(answer.body.isEmpty)
        }
    }

    @Test func `a page that is not there is answered with those that are`() async throws {
        try await withServer { port in
            let answer = try await HTTPExchange.get("/", port: port)
            #expect(answer.status == 404)
            #expect(answer.body == "There is no page of that name; there are /page.\n")
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"])
    func `other methods are refused with those that are allowed`(method: String) async throws {
        try await withServer { port in
            let answer = try await HTTPExchange.get("/page", port: port, method: method)
            // What no HTTP knows does not come as far as the methods.
            #expect(answer.status == (method == "BREW" ? 400 : 405))
            guard method != "BREW" else { return }
            #expect(answer.text.contains("Allow: GET, HEAD\r\n"))
            #expect(answer.body.contains("Use GET."))
        }
    }

    @Test func `bytes that are no HTTP are answered with a sentence`() async throws {
        try await withServer { port in
            let answer = try await HTTPExchange.send("\u{16}\u{3}\u{1}\0\0 TLS\r\n\r\n", port: port)
            #expect(answer.status == 400)
            #expect(answer.body.hasPrefix("This is not HTTP/1.1"))
        }
    }

    @Test(arguments: [
        "GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\n\r\n",
        "GET /page HTTP/1.1\r\nA: \(String(repeating: "a", count: 20_000))\r\n\r\n",
        "GET /page HTTP/1.1\r\n"
            + (0..<100).map { "h\($0): \(String(repeating: "a", count: 100))\r\n" }.joined(),
        "GET /page HTTP/1.1\r\n" + (0..<200).map { "h\($0): a\r\n" }.joined(),
    ])
    func `a head beyond its limits is refused`(request: String) async throws {
        try await withServer { port in
            let answer = try await HTTPExchange.send(request, port: port)
            #expect(answer.status == 431, "\(answer.text)")
        }
    }

    @Test func `a request with a body is refused`() async throws {
        try await withServer { port in
            let answer = try await HTTPExchange.send(
                "GET /page HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", port: port)
            #expect(answer.status == 413)
        }
    }

    @Test func `a second request on the same connection is not answered`() async throws {
        try await withServer { port in
            let request = "GET /page HTTP/1.1\r\n\r\n"
            let answer = try await HTTPExchange.send(request + request, port: port)
            #expect(answer.text.components(separatedBy: "HTTP/1.1 200").count == 2)
        }
    }

    @Test func `who connects and says nothing takes no place for long`() async throws {
        try await withServer { port in
            // With all places taken one more is closed at once, without an answer. On a busy machine the
            // silent ones may be gone before that is tried.
            let silent = try await eventually("one more is turned away") {
                let silent = try (0..<StatusServer.connectionsMax).map { _ in
                    try TCPConnection(port: port)
                }
                let answer = try await HTTPExchange.get("/page", port: port)
                return answer.text.isEmpty ? silent : nil
            }
            let answer = try await eventually("there is room again", within: .seconds(30)) {
                let answer = try await HTTPExchange.get("/page", port: port)
                return answer.status == 200 ? answer : nil
            }
            #expect(answer.body == "as asked\n")
            withExtendedLifetime(silent) {}
        }
    }

    @Test func `a port that is taken is told with what to do`() async throws {
        try await withServer { port in
            let error = await #expect(throws: StatusPortError.self) {
                try await StatusServer.open(
                    host: "127.0.0.1", port: port, pages: [], logger: Logger(label: "test"))
            }
            #expect(
                error?.description.contains("127.0.0.1 port \(port)") == true
                    && error?.description.contains("--status-port") == true)
        }
    }
}
