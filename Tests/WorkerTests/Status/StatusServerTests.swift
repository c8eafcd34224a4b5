import Foundation
import Logging
import MinilabTesting
import NIOCore
import NIOEmbedded
import Testing

@testable import Telemetry

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

    /// A head that is longer than one may be, by its name: the bytes would fill the log of a run.
    enum LongHead: CaseIterable {
        case path, field, fields, count

        var text: String {
            let letters = String(repeating: "a", count: 20_000)
            return switch self {
            case .path: "GET /\(letters) HTTP/1.1\r\n\r\n"
            case .field: "GET /page HTTP/1.1\r\nA: \(letters)\r\n\r\n"
            case .fields:
                "GET /page HTTP/1.1\r\n"
                    + (0..<100).map { "h\($0): \(letters.prefix(100))\r\n" }.joined()
            case .count: "GET /page HTTP/1.1\r\n" + (0..<200).map { "h\($0): a\r\n" }.joined()
            }
        }
    }

    @Test(arguments: LongHead.allCases)
    func `a head beyond its limits is refused`(head: LongHead) async throws {
        try await withServer { port in
            let answer = try await HTTPExchange.send(head.text, port: port)
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

    @Test
    func `a probe is answered while three times as many connections as there are say nothing`()
        async throws
    {
        try await withServer { port in
            var idle: [TCPConnection] = []
            for number in 0..<(3 * StatusServer.connectionsMax) {
                let connection = try TCPConnection(port: port)
                // Some are slow instead of silent: a line, and never the end of the head.
                if number % 3 == 0 { connection.send("GET /page HTTP/1.1\r\n") }
                idle.append(connection)
                // The first time, every tenth connection, and with all of them open.
                guard number % 10 == 0 || number == 3 * StatusServer.connectionsMax - 1 else {
                    continue
                }
                let answer = try await HTTPExchange.get("/page", port: port)
                #expect(answer.status == 200, "with \(idle.count) open: \(answer.text)")
            }
            withExtendedLifetime(idle) {}
        }
    }

    @Test func `a silent connection is ended soon, and one that has asked is waited for`()
        async throws
    {
        let (ended, end) = AsyncStream<Void>.makeStream()
        let server = try await StatusServer.open(
            host: "127.0.0.1", port: 0,
            pages: [
                StatusPage("/page") {
                    // Until the silent connection, which came later, has been ended.
                    for await _ in ended { break }
                    return StatusAnswer("text/plain", "late\n")
                }
            ], requestTimeMax: .milliseconds(50), logger: Logger(label: "test"))
        let port = try #require(server.address.split(separator: ":").last.flatMap { Int($0) })
        let asking = Task { try await HTTPExchange.get("/page", port: port) }
        let silent = try await HTTPExchange.send("GET /page", port: port)
        #expect(silent.text.isEmpty)
        end.yield()
        #expect(try await asking.value.body == "late\n")
        await server.close()
    }

    @Test func `the oldest silent connection goes for a new one, then the oldest of all`() {
        let table = ConnectionTable(max: 2)
        let channels = (0..<4).map { _ in EmbeddedChannel() }
        let first = table.enter(channels[0])
        table.asked(first.number)
        #expect(table.enter(channels[1]).leaving == nil)
        let third = table.enter(channels[2])
        #expect(third.leaving === channels[1])
        table.asked(third.number)
        #expect(table.enter(channels[3]).leaving === channels[0])
        #expect(table.count == 2)
        table.leave(third.number)
        #expect(table.count == 1)
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
