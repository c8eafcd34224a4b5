import AccessKeys
import Edits
import Foundation
import JobQueue
import Library
import MinilabTesting
import Redis
import Testing

@testable import Gateway

/// A gateway goes on with what one of release 0.5 had among the keys of jobs.
@Suite("A gateway after one of release 0.5") struct MovedRecordsTests {
    /// Puts all that gateways of a queue own where release 0.5 had it.
    private func putBack(_ rig: GatewayRig) async throws -> [String] {
        let (new, old) = ("minilab-gateway:{\(rig.queue.name)}:", "minilab:{\(rig.queue.name)}:")
        let keys = try await rig.redis.send(["KEYS", RedisArgument(new + "*")])
        var names: [String] = []
        for key in (keys.array ?? []).compactMap(\.string) {
            let name = String(key.dropFirst(new.count))
            // That release had one control stream, and no note of a move.
            if ["moved", "control"].contains(name) {
                _ = try await rig.redis.send(["UNLINK", RedisArgument(key)])
            } else {
                _ = try await rig.redis.send([
                    "RENAME", RedisArgument(key), RedisArgument(old + name),
                ])
                names.append(name)
            }
        }
        return names
    }

    @Test
    func `keys, sessions, quotas, webhooks with their positions, replays and the audit go on`()
        async throws
    {
        let place = try await ProviderRig()
        let rig = place.rig
        let person = place.person()
        #expect(try await person.signIn().status == 200)
        let key = try await rig.key(
            "acme", scopes: [.enqueue, .read, .operate], quotas: .init(uploadBytesPerDay: 10))
        let hex = SHA256.hash(data: Data("a photo".utf8)).map { String(format: "%02x", $0) }
            .joined()
        func upload(_ name: String, to gateway: GatewayRig) async throws -> Int {
            try await gateway.send(
                "PUT", "/v1/originals/acme/\(name)", key: key, body: "a photo",
                headers: ["Content-Digest": ContentDigest.field(hex)]
            ).status
        }
        #expect(try await upload("a.JPG", to: rig) == 201)
        try await rig.kill([("dies", "acme/gone.JPG")], key: key)
        let replay = try await rig.send("POST", "/v1/replays", key: key, json: "{}")
        let order = try #require(replay.header("Location"))
        let receiver = try await Receiver.start()
        let (endpoint, _) = try await WebhookRoutesTests.make(rig, receiver, key)
        try await WebhookRoutesTests.cancel("acme.1", rig)
        try await eventually("the first message comes") {
            receiver.messages.count == 1 ? () : nil
        }
        let audit = try await rig.parts.audit.page(of: "acme", before: nil, count: 10)
        #expect(audit.map(\.action) == ["createWebhook", "replay"])
        try await rig.stop()

        let names = try await putBack(rig)
        #expect(names.count > 8, "\(names)")
        // While no gateway runs, another event comes.
        try await WebhookRoutesTests.cancel("acme.2", rig)
        let next = try await place.another()
        #expect(try await next.send("GET", "/v1/jobs/none", key: key).status == 404)
        person.gateway = next
        #expect(try await person.isSignedIn())
        #expect(try await upload("b.JPG", to: next) == 429, "7 of 10 bytes are used")
        #expect(try await next.send("GET", order, key: key).status == 200)
        let listed = try await next.send("GET", "/v1/webhooks/\(endpoint)", key: key)
        #expect(listed.status == 200, "\(listed.text)")
        #expect(
            try await next.parts.audit.page(of: "acme", before: nil, count: 10).map(\.id)
                == audit.map(\.id))
        try await eventually("the second message comes") {
            receiver.messages.count >= 2 ? () : nil
        }
        #expect(receiver.messages[1].body.contains("acme.2"), "the position is as it was")
    }

    @Test func `until the records are moved nobody is signed out, by the gateway or by themselves`()
        async throws
    {
        let server = try await RedisServer.start()
        let folder = try TemporaryFolder()
        let library = folder.file("library")
        try FileManager.default.createDirectory(
            atPath: library + "/originals", withIntermediateDirectories: true)
        let key = try await RunningGateway.key(on: server)
        let (old, token) = ("minilab:{photos}:", RandomText.make())
        try await server.command("RENAME", "minilab-gateway:{photos}:keys", old + "keys")
        try await server.command("UNLINK", "minilab-gateway:{photos}:moved")
        let session = "session:" + SHA256.hash(data: token.utf8).hex
        let id = String(key.split(separator: "_")[1])
        try await server.command("SET", old + session, id, "EX", "3600")
        // Redis takes no write: nothing can be moved.
        try await server.command("CONFIG", "SET", "min-replicas-to-write", "1")
        let process = try MinilabProcess(
            ["--library", library, "--port", "0"] + server.flags(as: .gateway),
            executable: "minilab-gateway")
        let port = try await eventually("the gateway listens") { () -> Int? in
            process.output.firstMatch(of: /the gateway listens on http:\/\/127\.0\.0\.1:([0-9]+)/)
                .flatMap { Int($0.output.1) }
        }
        func status(_ request: String) async throws -> Int? {
            try await HTTPExchange.send(
                "\(request) HTTP/1.1\r\nHost: localhost:\(port)\r\nConnection: close\r\n"
                    + "Sec-Fetch-Site: same-origin\r\nCookie: minilab=\(token)\r\n"
                    + "Content-Length: 0\r\n\r\n", port: port
            ).status
        }
        #expect(try await status("GET /batches") == 503)
        #expect(try await status("POST /signout") == 503)
        try await server.command("CONFIG", "SET", "min-replicas-to-write", "0")
        try await eventually("the records are moved, and the session with them") {
            try await status("GET /batches") == 200 ? true : nil
        }
        #expect(process.output.contains("have other keys of Redis now"), "\(process.output)")
        #expect(try await status("POST /signout") == 303)
        #expect(try await status("GET /batches") == 303)
        process.kill(SIGTERM)
        #expect(try await process.waitForEnd() == .exited(0), "\(process.output)")
        server.stop()
    }
}
