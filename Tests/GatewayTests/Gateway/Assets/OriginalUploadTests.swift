import AccessKeys
import Edits
import Foundation
import JobQueue
import Library
import MinilabTesting
import NIOCore
import Redis
import SystemPackage
import Telemetry
import Testing

@testable import Gateway

@Suite("Originals that are sent") struct OriginalUploadTests {
    private func digest(_ text: String) -> String {
        let hex = SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
        return "Content-Digest: \(ContentDigest.field(hex))\r\n"
    }

    @Test func `are originals when they are whole`() async throws {
        let server = try await AssetServer()
        let answer = try await server.send(
            "PUT", "/v1/originals/acme/2030/caf%C3%A9%20a.JPG", digest("a photo"), body: "a photo")
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.text.contains("Location: /v1/originals/acme/2030/caf%C3%A9%20a.JPG\r\n"))
        #expect(server.text(of: "acme/2030/café a.JPG") == "a photo")
    }

    @Test func `larger than a piece come as they were sent`() async throws {
        let server = try await AssetServer()
        let text = (0..<90_000).map { "line \($0)\n" }.joined()
        let answer = try await server.send(
            "PUT", "/v1/originals/acme/big", digest(text), body: text)
        #expect(answer.status == 201)
        #expect(server.text(of: "acme/big") == text)
    }

    @Test func `replace nothing, and the same bytes again are no mistake`() async throws {
        let server = try await AssetServer()
        try server.put("a photo", at: "acme/a.JPG")
        let again = try await server.send(
            "PUT", "/v1/originals/acme/a.JPG", digest("a photo") + "If-None-Match: *\r\n",
            body: "a photo")
        #expect(again.status == 200, "\(again.text)")
        let other = try await server.send(
            "PUT", "/v1/originals/acme/a.JPG", digest("another"), body: "another")
        #expect(other.status == 412)
        #expect(other.body.contains("preconditionFailed"))
        let unsaid = try await server.send("PUT", "/v1/originals/acme/a.JPG", body: "a photo")
        #expect(unsaid.status == 412)
        #expect(server.text(of: "acme/a.JPG") == "a photo")
    }

    @Test func `with another digest than was said are nothing`() async throws {
        let server = try await AssetServer()
        let answer = try await server.send(
            "PUT", "/v1/originals/acme/a.JPG", digest("a phota"), body: "a photo")
        #expect(answer.status == 422)
        #expect(server.text(of: "acme/a.JPG") == nil)
        let wrong = try await server.send(
            "PUT", "/v1/originals/acme/a.JPG", "Content-Digest: md5=:AAAA:\r\n", body: "a photo")
        #expect(wrong.status == 400)
    }

    @Test(arguments: [
        "multipart/form-data; boundary=x", "Multipart/Mixed;boundary=x",
        "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8",
    ])
    func `that are forms are refused, and their name stays free`(type: String) async throws {
        let server = try await AssetServer()
        let form = try await server.send(
            "PUT", "/v1/originals/acme/a.JPG", "Content-Type: \(type)\r\n", body: "--x\r\na photo")
        #expect(form.status == 400 && form.text.contains("bare bytes"), "\(form.text)")
        let bare = try await server.send(
            "PUT", "/v1/originals/acme/a.JPG", "Content-Type: image/jpeg\r\n", body: "a photo")
        #expect(bare.status == 201)
    }

    @Test func `with another digest leave no folders, and count as bytes of the day`() async throws
    {
        let server = try await AssetServer { $0.uploadBytesPerDay = 28 }
        for _ in 0..<3 {
            let wrong = try await server.send(
                "PUT", "/v1/originals/acme/a/b/c/a.JPG", digest("a phota"), body: "a photo")
            #expect(wrong.status == 422)
        }
        let folder = server.library.originals.appending("acme").string
        #expect(!FileManager.default.fileExists(atPath: folder))
        let deep = String(repeating: "d/", count: 40)
        let refused = try await server.send(
            "PUT", "/v1/originals/acme/\(deep)a.JPG", body: "a photo")
        #expect(refused.status == 422 && refused.text.contains("folders"))
        let taken = try await server.send(
            "PUT", "/v1/originals/acme/a/b/c/a.JPG", body: "a photo")
        #expect(taken.status == 201, "\(taken.text)")
        let more = try await server.send("PUT", "/v1/originals/acme/b.JPG", body: "b")
        #expect(more.status == 429 && more.text.contains("uploadQuota"))
    }

    /// The bytes that count for the day of the server's key.
    private func counted(_ server: AssetServer) async throws -> Int? {
        let uploads = server.parts.queue.name.gatewayKeys.uploads
        return try await server.parts.events.redis.send(["HGET", RedisArgument(uploads), "key"])
            .string.flatMap { Int($0) }
    }

    /// The bytes of bodies that the server has read.
    private func read(_ server: AssetServer) -> Double? {
        server.parts.metrics.families()
            .first { $0.name == "minilab_gateway_received_bytes_total" }?.samples.first?.value
    }

    private func arrivals(_ server: AssetServer) throws -> [String] {
        let path = arrivalsFolder(server)
        // The folder is made by the first upload.
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path)
    }

    private func arrivalsFolder(_ server: AssetServer) -> String {
        server.library.originals.appending(".minilab-copy-uploads").string
    }

    @Test func `that are there already count for what was read of them`() async throws {
        let server = try await AssetServer()
        try server.put("a photo", at: "acme/a.JPG")
        for number in 1...3 {
            let again = try await server.send(
                "PUT", "/v1/originals/acme/a.JPG", digest("a photo"), body: "a photo")
            #expect(again.status == 200, "\(again.text)")
            #expect(try await counted(server) == 7 * number)
        }
        // A client that waits for 100 Continue sends nothing of them.
        let waiting = try await HTTPExchange.send(
            "PUT /v1/originals/acme/a.JPG HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\(digest("a photo"))"
                + "Expect: 100-continue\r\nConnection: close\r\n\r\n", port: server.port)
        #expect(waiting.status == 200, "\(waiting.text)")
        #expect(try await counted(server) == 21)
        // One that leaves has sent what it has sent.
        let leaving = try TCPConnection(port: server.port)
        leaving.send(
            "PUT /v1/originals/acme/a.JPG HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\(digest("a photo"))"
                + "\r\na pho")
        try await eventually("it is read") { read(server) == 26 ? true : nil }
        leaving.finish()
        try await eventually("what it did not send is given back") {
            try await counted(server) == 26 ? true : nil
        }
    }

    /// The name is free when the body begins, and is taken, or lies below a file, when it has been digested and written.
    @Test(arguments: [("a.JPG", 412), ("a.JPG/b.JPG", 422)])
    func `that lose a race for their name count as those that win it`(
        _ late: String, _ status: Int
    ) async throws {
        let server = try await AssetServer()
        let connection = try TCPConnection(port: server.port)
        connection.send(
            "PUT /v1/originals/acme/\(late) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 7\r\n\r\na pho"
        )
        try await eventually("it has begun") { try arrivals(server).isEmpty ? nil : true }
        let first = try await server.send("PUT", "/v1/originals/acme/a.JPG", body: "another")
        #expect(first.status == 201, "\(first.text)")
        connection.send("to")
        let answer = try await BorderBehaviourTests.readToEnd(connection)
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
        #expect(try await counted(server) == 14)
        #expect(server.text(of: "acme/a.JPG") == "another")
    }

    @Test func `that this side fails to keep cost their key nothing`() async throws {
        let server = try await AssetServer()
        let connection = try TCPConnection(port: server.port)
        connection.send(
            "PUT /v1/originals/acme/a.JPG HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 7\r\n\r\na pho"
        )
        try await eventually("it has begun") { try arrivals(server).isEmpty ? nil : true }
        // Its disk goes away.
        let originals = server.library.originals
        try FileManager.default.moveItem(
            atPath: originals.string, toPath: originals.string + "-away")
        connection.send("to")
        let answer = try await BorderBehaviourTests.readToEnd(connection)
        #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
        #expect(try await counted(server) == 0)
    }

    @Test func `that are announced take no disk, and only a few come at a time with a key`()
        async throws
    {
        var limits = BorderLimits()
        // An upload that stalls must not be cut off before all have begun.
        limits.transferGrace = .hours(1)
        let server = try await AssetServer(limits: limits)
        let most = server.parts.permits.uploads.ofKeyMax
        var held: [TCPConnection] = []
        for number in 0..<most {
            let connection = try TCPConnection(port: server.port)
            connection.send(
                "PUT /v1/originals/acme/\(number).JPG HTTP/1.1\r\nHost: a\r\nContent-Length: 400000000\r\n\r\na"
            )
            held.append(connection)
        }
        let folder = arrivalsFolder(server)
        try await eventually("all have begun") {
            try arrivals(server).count == most ? true : nil
        }
        var blocks = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var info = stat()
            #expect(stat(folder + "/" + name, &info) == 0)
            blocks += Int(info.st_blocks)
        }
        #expect(blocks * 512 <= most * (64 << 20))
        let refused = try await server.send("PUT", "/v1/originals/acme/x.JPG", body: "x")
        #expect(refused.status == 429 && refused.text.contains("tooManyUploads"))
        held = []
        try await eventually("their places are free") {
            server.parts.permits.uploads.count == 0 ? true : nil
        }
        #expect(try await server.send("PUT", "/v1/originals/acme/x.JPG", body: "x").status == 201)
    }

    @Test func `that break off are nothing`() async throws {
        let server = try await AssetServer()
        var connection: TCPConnection? = try TCPConnection(port: server.port)
        connection?.send(
            "PUT /v1/originals/acme/a.JPG HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\na photo"
        )
        try await eventually("it arrives") { try arrivals(server).isEmpty ? nil : true }
        connection = nil
        try await eventually("what came is removed") { try arrivals(server).isEmpty ? true : nil }
        #expect(server.text(of: "acme/a.JPG") == nil)
    }

    @Test func `without a length, too long or empty are refused before they are read`() async throws
    {
        let server = try await AssetServer { $0.uploadBytesMax = 10 }
        let chunked = try await HTTPExchange.send(
            "PUT /v1/originals/acme/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            port: server.port)
        #expect(chunked.status == 411)
        let long = try await HTTPExchange.send(
            "PUT /v1/originals/acme/a HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
            port: server.port, ending: false)
        #expect(long.status == 413)
        #expect(try await server.send("PUT", "/v1/originals/acme/a", body: "").status == 400)
    }

    @Test func `outside the key's prefix look like what is not there`() async throws {
        let server = try await AssetServer()
        try server.put("theirs", at: "other/a.JPG")
        let foreign = try await server.send("PUT", "/v1/originals/other/a.JPG", body: "mine")
        #expect(foreign.status == 404)
        let read = try await server.send("GET", "/v1/originals/other/a.JPG")
        let missing = try await server.send("GET", "/v1/originals/other/b.JPG")
        func plain(_ answer: HTTPExchange.Answer) -> String {
            answer.text.replacing("b.JPG", with: "a.JPG").split(separator: "\r\n")
                .filter { !$0.hasPrefix("Date:") }.joined()
        }
        #expect(plain(read) == plain(missing))
        #expect(server.text(of: "other/a.JPG") == "theirs")
    }

    /// A path is decoded once: a name may have what looks like an escape, marks of direction, and characters that cannot be seen.
    @Test(arguments: [
        ("acme/%2541.jpg", "acme/%41.jpg"), ("acme/%252e%252e/a.jpg", "acme/%2e%2e/a.jpg"),
        ("acme/a%5cb.jpg", #"acme/a\b.jpg"#),
        ("acme/Scherm%C2%ADafbeelding.png", "acme/Scherm\u{ad}afbeelding.png"),
        ("acme/%E2%80%8F%D7%A6.png", "acme/\u{200f}\u{5e6}.png"),
        ("acme/photo%E2%80%8Bname.png", "acme/photo\u{200b}name.png"),
        ("acme/caf%C3%A9.png", "acme/caf\u{e9}.png"),
        ("acme/cafe%CC%81.png", "acme/cafe\u{301}.png"),
        (
            "acme/%F0%9F%8F%B4%F3%A0%81%A7%F3%A0%81%A2%F3%A0%81%A5%F3%A0%81%AE%F3%A0%81%A7%F3%A0%81%BF.png",
            "acme/\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}.png"
        ),
    ])
    func `have any name that a file can have, and are read by it`(_ path: String, _ name: String)
        async throws
    {
        let server = try await AssetServer()
        let answer = try await server.send("PUT", "/v1/originals/" + path, body: "x")
        #expect(answer.status == 201, "\(answer.text)")
        #expect(server.text(of: name) == "x")
        let read = try await server.send("GET", "/v1/originals/" + path)
        #expect(read.status == 200 && read.text.hasSuffix("x"), "\(read.text)")
    }

    @Test(arguments: [
        "..", "acme/../other/a", "acme/%2e%2e/other/a", "acme/a%00", "acme//a",
        "acme/%c0%ae", "%2e%2e/%2e%2e/etc/passwd", "/acme/a",
    ])
    func `never have a path that leads elsewhere`(_ path: String) async throws {
        let server = try await AssetServer(prefix: "")
        let answer = try await server.send("PUT", "/v1/originals/" + path, body: "x")
        #expect(answer.status == 400, "\(answer.text)")
    }
}
