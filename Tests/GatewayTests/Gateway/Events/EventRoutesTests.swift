import AccessKeys
import Edits
import AsyncHTTPClient
import Foundation
import JobQueue
import MinilabTesting
import NIOCore
import NIOHTTP1
import Redis
import Testing

@testable import Gateway

@Suite("events over HTTP") struct EventRoutesTests {
    /// Events of jobs that end before a worker has seen them.
    private func cancel(
        _ numbers: Range<Int>, _ key: String, _ rig: GatewayRig
    ) async throws {
        for number in numbers {
            try await rig.post("o\(number)", "acme/\(number).jpg", key: key)
            let answer = try await rig.send("POST", "/v1/jobs/o\(number)/cancel", key: key)
            try #require(answer.status == 200, "\(answer.text)")
        }
    }

    private func lines(_ answer: GatewayRig.Answer) throws -> [JSONValue] {
        try answer.text.split(separator: "\n").map {
            try JSONValue(parsing: String($0), as: "line")
        }
    }

    @Test func `events are read from any place on, as lines that end with the newest`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        try await cancel(0..<5, key, rig)
        let all = try lines(try await rig.send("GET", "/v1/events?after=0", key: key))
        #expect(all.map { $0["event"]?["data"]?["job"]?.text } == (0..<5).map { "acme.o\($0)" })
        let third = try #require(all[2]["id"]?.text)
        let rest = try lines(
            try await rig.send("GET", "/v1/events", key: key, headers: ["Last-Event-ID": third]))
        #expect(rest == Array(all[3...]))
        let newest = try #require(all.last?["id"]?.text)
        #expect(try await rig.send("GET", "/v1/events?after=\(newest)", key: key).text.isEmpty)
        let odd = try await rig.send("GET", "/v1/events?after=soon", key: key)
        #expect(odd.status == 400 && odd.code == "badParameter")
    }

    @Test func `long events are read one in a turn, and none is left out`() async throws {
        let rig = try await GatewayRig(on: try await RedisServer.start())
        let key = try await rig.key("acme", scopes: [.read])
        let (queue, count) = (rig.queue.name, 40)
        let reason = String(repeating: "x", count: 20_000)
        for number in 0..<count {
            let json =
                #"{"specversion":"1.0","id":"\#(queue)/acme.\#(number)/1/cancelled","source":"minilab/\#(queue)","#
                + #""type":"org.minilab.job.cancelled","subject":"acme/a.jpg","time":"2026-01-01T00:00:00.000Z","tenant":"acme","#
                + #""datacontenttype":"application/json","dataschema":"urn:minilab:event:1","data":{"job":"acme.\#(number)","#
                + #""asset":"acme/a.jpg","generation":1,"reason":"\#(reason)"}}"#
            _ = try await rig.redis.send([
                "XADD", RedisArgument(queue.keys.events), "*", "event", RedisArgument(json),
            ])
        }
        func reads() async throws -> Int {
            let stats = try await rig.server.command("INFO", "commandstats")
            let calls = try #require(stats.firstMatch(of: /cmdstat_xrange:calls=([0-9]+)/))
            return try #require(Int(calls.output.1))
        }
        let before = try await reads()
        let answer = try await rig.send("GET", "/v1/events?after=0", key: key)
        #expect(try lines(answer).count == count)
        #expect(try await reads() - before >= count)
    }

    @Test func `a tenant reads its own events alone`() async throws {
        let rig = try await GatewayRig()
        let acme = try await rig.key("acme", scopes: [.enqueue, .read])
        let zebra = try await rig.key("zebra", scopes: [.read])
        let all = try await rig.key(scopes: [.read])
        try await cancel(0..<3, acme, rig)
        #expect(try await rig.send("GET", "/v1/events?after=0", key: zebra).text.isEmpty)
        #expect(try lines(try await rig.send("GET", "/v1/events?after=0", key: all)).count == 3)
    }

    @Test func `a time before the first event is a place to start from, and an id is not`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        try await cancel(0..<2, key, rig)
        let all = try lines(try await rig.send("GET", "/v1/events?after=0", key: key))
        let first = try #require(all.first?["id"]?.text?.split(separator: "-").first)
        let time = try #require(Int(first)) - 1000
        let since = try lines(try await rig.send("GET", "/v1/events?after=\(time)", key: key))
        #expect(since == all)
        let gone = try await rig.send("GET", "/v1/events?after=\(time)-0", key: key)
        #expect(gone.status == 410 && gone.code == "gone", "\(gone.text)")
    }

    @Test func `a position of which events were trimmed is gone, and the newest is told`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        try await cancel(0..<2, key, rig)
        let all = try lines(try await rig.send("GET", "/v1/events?after=0", key: key))
        let second = try #require(all.last?["id"]?.text)
        try await cancel(2..<4, key, rig)
        _ = try await rig.redis.send([
            "XTRIM", RedisArgument(rig.queue.name.keys.events), "MAXLEN", "=", "1",
        ])
        let gone = try await rig.send("GET", "/v1/events?after=\(second)", key: key)
        #expect(gone.status == 410 && gone.code == "gone", "\(gone.text)")
        #expect(gone.json["newest"]?.text != nil)
    }

    @Test func `the keys of one tenant leave streams for others and for operators`() async throws {
        let rig = try await GatewayRig { $0.streamsMax = 40 }
        func key(_ tenant: String?) async throws -> AccessKey {
            let text = try await rig.key(tenant, scopes: [.read])
            return try await rig.parts.keys.key(named: String(text.split(separator: "_")[1]))
        }
        let keys = [try await key("acme"), try await key("acme")]
        var held: [SharedPermits.Permit] = []
        for number in 0..<80 {
            if let permit = rig.parts.permits.streams.take(for: keys[number % 2]) {
                held.append(permit)
            }
        }
        #expect(held.count == 18)
        let text = try await rig.key("acme", scopes: [.read])
        let refused = try await rig.send(
            "GET", "/v1/events", key: text, headers: ["Accept": "text/event-stream"])
        #expect(refused.status == 429 && refused.code == "tooManyStreams")
        _ = try rig.parts.permits.stream(of: try await key("globex"))
        _ = try rig.parts.permits.stream(of: try await key(nil))
    }

    @Test func `a stream goes on from Last-Event-ID, tells of what comes, and ends with its key`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        try await cancel(0..<2, key, rig)
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(rig.port)/v1/events")
        request.headers.add(name: "Accept", value: "text/event-stream")
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        request.headers.add(name: "Last-Event-ID", value: "0-1")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect(response.headers.first(name: "Content-Type") == "text/event-stream")
        var text = ""
        var isRevoked = false
        try await cancel(2..<3, key, rig)
        // The stream ends with its key, or its connection is closed.
        do {
            for try await part in response.body {
                text += String(buffer: part)
                if text.contains("acme.o2"), !isRevoked {
                    isRevoked = true
                    try await rig.parts.keyStore.revoke(String(key.split(separator: "_")[1]))
                }
            }
        } catch {
            #expect(isRevoked, "\(error)")
        }
        try await eventually("the permit is back") {
            rig.parts.permits.streams.count == 0 ? true : nil
        }
        for job in ["acme.o0", "acme.o1", "acme.o2"] { #expect(text.contains(job), "\(text)") }
        #expect(text.contains("event: org.minilab.job.cancelled"))
    }

    @Test func `a stream whose request expects 100 Continue lasts until its client leaves`()
        async throws
    {
        let rig = try await GatewayRig()
        let connection = try await stream("Expect: 100-continue\r\nContent-Length: 0\r\n\r\n", rig)
        let begun = try await BorderBehaviourTests.read(connection, until: "HTTP/1.1 200 OK")
        #expect(begun.hasSuffix("200 OK"), "\(begun)")
        try await eventually("the stream has begun") {
            rig.parts.limits.connections.callCount == 1 ? true : nil
        }
        connection.finish()
        try await eventually("the stream has ended") {
            rig.parts.limits.connections.callCount == 0 ? true : nil
        }
    }

    @Test(arguments: [
        "Content-Length: 3\r\n\r\nabc", "Content-Length: 3000000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ])
    func `a request for a stream that has a body is refused`(_ rest: String) async throws {
        let rig = try await GatewayRig()
        let connection = try await stream(rest, rig)
        // The connection may be kept for another call.
        let answer = try await BorderBehaviourTests.read(connection, until: "\"badBody\"")
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.hasSuffix("\"badBody\""), "\(answer)")
    }

    /// Asks for a stream of events.
    private func stream(_ rest: String, _ rig: GatewayRig) async throws -> TCPConnection {
        let key = try await rig.key("acme", scopes: [.read])
        let connection = try TCPConnection(port: rig.port)
        connection.send(
            "GET /v1/events HTTP/1.1\r\nAccept: text/event-stream\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
                + rest)
        return connection
    }
}
