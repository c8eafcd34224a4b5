import AccessKeys
import Files
import Foundation
import HTTPTypes
import Hummingbird
import MinilabTesting
import NIOCore
import Synchronization
import Testing

@testable import Gateway

@Suite("The border of the gateway") struct BorderBehaviourTests {
    /// Limits of which one is short; the others hold a test up if they are what ends it.
    private func limits(_ change: (inout BorderLimits) -> Void) -> BorderLimits {
        var limits = BorderLimits()
        limits.headerTime = .hours(1)
        limits.idleTime = .hours(1)
        limits.lingerTime = .hours(1)
        limits.transferGrace = .hours(1)
        change(&limits)
        return limits
    }

    @Test func `a connection without a request is closed`() async throws {
        let server = try await BorderServer.plain(limits { $0.idleTime = .milliseconds(50) })
        #expect(try await HTTPExchange.send("", port: server.port).text == "")
        // Longer than a request takes on a busy machine: it is closed after the answer.
        let patient = try await BorderServer.plain(limits { $0.idleTime = .seconds(2) })
        let kept = try await HTTPExchange.send(
            "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", port: patient.port)
        #expect(kept.body == "hello")
    }

    @Test func `a head that does not end is not waited for`() async throws {
        let server = try await BorderServer.plain(limits { $0.headerTime = .milliseconds(50) })
        #expect(
            try await HTTPExchange.send("GET /a HTTP/1.1\r\nHost: ", port: server.port).text == "")
        #expect(server.paths.isEmpty)
    }

    @Test func `a body that stops coming is not waited for`() async throws {
        let server = try await BorderServer.plain(limits { $0.transferGrace = .milliseconds(50) })
        let answer = try await HTTPExchange.send(
            "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhe", port: server.port)
        #expect(!answer.text.contains("bytes"))
    }

    @Test func `a refusal is sent at once, and the rest of the body is not read`() async throws {
        let server = try await BorderServer.plain(
            limits {
                $0.lingerBytesMax = 64 << 10
            })
        // The test would wait an hour if the server did.
        let answer = try await HTTPExchange.send(
            "PUT /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 300000000\r\n\r\n"
                + String(repeating: "x", count: 1 << 20), port: server.port)
        #expect(answer.status == 401)
        #expect(answer.text.contains("\r\nConnection: close\r\n"))
    }

    @Test func `the rest of a refused request is thrown away for a time`() async throws {
        let server = try await BorderServer.plain(limits { $0.lingerTime = .milliseconds(50) })
        let connection = try TCPConnection(port: server.port)
        connection.send("PUT /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 300000000\r\n\r\nxxx")
        let text = try await Self.readToEnd(connection)
        #expect(text.hasPrefix("HTTP/1.1 401"))
        // A part of the refused body that looks like a request is none.
        connection.send("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.paths == ["/refused"])
    }

    @Test func `a body is asked for when its handler begins to read`() async throws {
        let server = try await BorderServer.plain()
        let asked = try TCPConnection(port: server.port)
        asked.send(
            "POST /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        )
        let head = try await Self.read(asked, until: "\r\n\r\n")
        #expect(head == "HTTP/1.1 100 Continue\r\n\r\n")
        asked.send("hello")
        #expect(try await Self.readToEnd(asked).contains("5 bytes"))
    }

    @Test func `a body that nobody reads is not asked for`() async throws {
        let server = try await BorderServer.plain(limits { $0.lingerTime = .milliseconds(50) })
        let answer = try await HTTPExchange.send(
            "PUT /refused HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
            port: server.port)
        #expect(answer.status == 401)
        #expect(!answer.text.contains("100 Continue"))
    }

    @Test func `a connection beyond the limit replaces the oldest one without a request`()
        async throws
    {
        let server = try await BorderServer.plain(limits { $0.connectionsMax = 8 })
        let asked = try TCPConnection(port: server.port)
        asked.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await Self.read(asked, until: "hello")
        var silent: [TCPConnection] = []
        for number in 0..<7 {
            silent.append(try TCPConnection(port: server.port))
            try await eventually("it is open") {
                server.connections.count == number + 2 ? true : nil
            }
        }
        let answer = try await HTTPExchange.send(
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.status == 200)
        #expect(server.connections.replacedCount == 1)
        #expect(try await Self.readToEnd(silent[0]).isEmpty)
        asked.send("GET /second HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try await Self.readToEnd(asked).contains("hello"))
    }

    @Test func `connections that have asked and are idle make room, too`() async throws {
        let server = try await BorderServer.plain(limits { $0.connectionsMax = 4 })
        var held: [TCPConnection] = []
        for _ in 0..<12 {
            let connection = try TCPConnection(port: server.port)
            connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await Self.read(connection, until: "hello").contains("200"))
            held.append(connection)
        }
        #expect(server.connections.count <= 4)
        #expect(server.connections.replacedCount == 8)
    }

    @Test func `calls of one tenant leave connections for the others and for operators`()
        async throws
    {
        let gate = AsyncStream.makeStream(of: Void.self)
        let began = Mutex<[FairShare.Owner]>([])
        let table = Mutex<OpenConnections?>(nil)
        let server = try await BorderServer(limits { $0.connectionsMax = 32 }) { request, context in
            let name = request.uri.path.dropFirst()
            let owner = name == "ops" ? FairShare.Owner.operator : .tenant(String(name))
            guard table.withLock({ $0 })?.begin(context.channel, owner, keyID: "k") == true else {
                return .text("too many", status: .tooManyRequests)
            }
            began.withLock { $0.append(owner) }
            for await _ in gate.stream {}
            return .text("done")
        }
        table.withLock { $0 = server.connections }
        var held: [TCPConnection] = []
        func call(_ name: String) throws {
            let connection = try TCPConnection(port: server.port)
            connection.send(
                "GET /\(name) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            held.append(connection)
        }
        // Of 30 places beside the reserve, acme gets half.
        for _ in 0..<20 { try call("acme") }
        try await eventually("acme has its share") {
            server.connections.refusedCount == 5 ? true : nil
        }
        try call("globex")
        try call("ops")
        try await eventually("the others are served") {
            began.withLock { $0.count } == 17 ? true : nil
        }
        // A flood without a key breaks off no call.
        for _ in 0..<40 { held.append(try TCPConnection(port: server.port)) }
        // 17 of 32 places are calls, so 25 of the 40 are replaced once all have come: NIO traps if a server ends while it accepts.
        try await eventually("all have come") {
            server.connections.replacedCount >= 25 ? true : nil
        }
        gate.continuation.finish()
        var done = 0
        for connection in held.prefix(22)
        where try await Self.readToEnd(connection).hasSuffix("done") { done += 1 }
        #expect(done == 17)
    }

    @Test func `a download comes whole`() async throws {
        let folder = try TemporaryFolder()
        let bytes = (0..<(BoundedDownload.pieceBytes * 3 + 7)).map { UInt8(97 + $0 % 26) }
        try Data(bytes).write(to: URL(filePath: folder.file("photo")))
        let file = try OpenFile(reading: folder.file("photo"))
        let server = try await BorderServer { _, context in
            Response(
                status: .ok,
                body: BoundedDownload(file, 5..<bytes.count - 1, over: context.channel).body)
        }
        let answer = try await HTTPExchange.send(
            "GET /photo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(answer.body == String(decoding: bytes[5..<bytes.count - 1], as: UTF8.self))
    }

    @Test func `a client that does not read its download loses it`() async throws {
        let ended = Mutex(false)
        let folder = try TemporaryFolder()
        try Data().write(to: URL(filePath: folder.file("photo")))
        let made = try OpenFile(opening: folder.file("photo"), O_RDWR)
        // More than sockets hold; no block of it is on the disk.
        try made.cut(to: 1 << 30)
        let server = try await BorderServer(
            limits {
                $0.transferGrace = .milliseconds(50)
                $0.bytesPerSecondMin = 1 << 30
            }
        ) { _, context in
            let download = BoundedDownload(made, 0..<1 << 30, over: context.channel).body
            return Response(
                status: .ok,
                body: ResponseBody(contentLength: 1 << 30) { writer in
                    defer { ended.withLock { $0 = true } }
                    try await download.write(writer)
                })
        }
        let connection = try TCPConnection(port: server.port)
        connection.send("GET /photo HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the download is given up") { ended.withLock { $0 } ? true : nil }
        withExtendedLifetime(connection) {}
    }

    @Test func `a file that ends early ends the connection, not the body`() async throws {
        let folder = try TemporaryFolder()
        try Data("short".utf8).write(to: URL(filePath: folder.file("photo")))
        let file = try OpenFile(reading: folder.file("photo"))
        let server = try await BorderServer { _, context in
            Response(status: .ok, body: BoundedDownload(file, 0..<50, over: context.channel).body)
        }
        let answer = try await HTTPExchange.send(
            "GET /photo HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
        #expect(answer.text.contains("Content-Length: 50"))
        #expect(answer.body.utf8.count < 50)
    }

    static func readToEnd(_ connection: TCPConnection) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try connection.readToEnd() })
            }
        }
    }

    static func read(
        _ connection: TCPConnection, until end: String
    ) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try connection.read(until: end) })
            }
        }
    }
}

@Suite("Streams of events") struct EventStreamingTests {
    @Test func `events come as they are sent, with comments while nothing happens`() async throws {
        let server = try await BorderServer { request, context in
            var stream = EventStreaming()
            stream.heartbeat = .milliseconds(20)
            return stream.response(to: request, over: context.channel) { sink in
                try await sink.send(id: "1-0", event: "done", data: "{\"a\":\n1}")
                try await sink.send(id: "2\nevent: forged", data: "b")
                try await Task.sleep(for: .seconds(3600))
            }
        }
        let connection = try TCPConnection(port: server.port)
        connection.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = try await BorderBehaviourTests.read(
            connection, until: "data: b\n\n\r\n3\r\n:\n\n")
        #expect(text.contains("text/event-stream"))
        #expect(text.contains("id: 1-0\nevent: done\ndata: {\"a\":\ndata: 1}\n\n"))
        #expect(text.contains("id: 2event: forged\ndata: b\n\n"))
        #expect(!text.contains("\nevent: forged"))
    }

    @Test func `a stream ends when its client goes`() async throws {
        let ended = Mutex(false)
        let server = try await BorderServer { request, context in
            var stream = EventStreaming()
            // No comment is written to the connection, so nothing but its end can end the stream.
            stream.heartbeat = .seconds(3600)
            return stream.response(to: request, over: context.channel) { sink in
                defer { ended.withLock { $0 = true } }
                try await sink.send(data: "here")
                try await Task.sleep(for: .seconds(3600))
            }
        }
        do {
            let connection = try TCPConnection(port: server.port)
            connection.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await BorderBehaviourTests.read(connection, until: "here")
        }
        try await eventually("the stream ends") { ended.withLock { $0 } ? () : nil }
    }

    @Test func `a client that reads no events is cut off`() async throws {
        let sent = Mutex(0)
        let ended = Mutex(false)
        let server = try await BorderServer { request, context in
            var stream = EventStreaming()
            stream.slowest = .milliseconds(100)
            return stream.response(to: request, over: context.channel) { sink in
                defer { ended.withLock { $0 = true } }
                while true {
                    try await sink.send(data: String(repeating: "x", count: 100_000))
                    sent.withLock { $0 += 1 }
                }
            }
        }
        let connection = try TCPConnection(port: server.port)
        connection.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the stream is given up") { ended.withLock { $0 } ? true : nil }
        // The rest was made for nobody: sockets hold a few megabytes.
        #expect(sent.withLock { $0 } < 1_000)
        withExtendedLifetime(connection) {}
    }
}
