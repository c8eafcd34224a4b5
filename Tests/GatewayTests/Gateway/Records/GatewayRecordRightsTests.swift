import AccessKeys
import Edits
import Foundation
import JobQueue
import Library
import Logging
import MinilabTesting
import Redis
import Testing

@testable import Gateway

/// The users of Redis that stand beside photos and producers reach nothing of what the gateway owns. EndToEndTests' `RightsTests` tries
/// every command; here is every key that a gateway leaves when all is used.
@Suite("Rights in Redis to what a gateway owns") struct GatewayRecordRightsTests {
    /// The kinds of keys that a busy gateway leaves of its own.
    private static let kinds: Set<String> = [
        "keys", "keys:uploads", "control", "moved", "session", "signin", "signins", "audit",
        "audit of a tenant", "replays", "webhooks", "webhook state", "webhook parked",
        "webhook deliveries",
    ]

    private static func kind(_ name: Substring) -> String {
        let parts = name.split(separator: ":")
        switch (parts.first, parts.count) {
        case ("session", 2), ("signin", 2): return String(parts[0])
        case ("audit", 2): return "audit of a tenant"
        case ("webhook", 3): return "webhook \(parts[2])"
        default: return String(name)
        }
    }

    /// Uses all that a gateway keeps something of.
    private func use(_ place: ProviderRig) async throws {
        let rig = place.rig
        let person = place.person()
        #expect(try await person.signIn().status == 200)
        let key = try await rig.key("acme", scopes: [.enqueue, .read, .operate])
        let hex = SHA256.hash(data: Data("a photo".utf8)).map { String(format: "%02x", $0) }
            .joined()
        let original = try await rig.send(
            "PUT", "/v1/originals/acme/a.JPG", key: key, body: "a photo",
            headers: ["Content-Digest": ContentDigest.field(hex)])
        #expect(original.status == 201, "\(original.text)")
        let url = try await Receiver.start().url  // which is gone, so that a message waits
        let webhook = try await rig.send(
            "POST", "/v1/webhooks", key: key,
            json: #"{"url":"\#(url)","eventTypes":["job.failed"]}"#)
        #expect(webhook.status == 201, "\(webhook.text)")
        try await rig.kill([("dies", "acme/gone.JPG")], key: key)
        try await rig.post("done", "acme/a.JPG", key: key)
        try await rig.complete(1)
        let batch = try await rig.send(
            "POST", "/v1/batches", key: key, json: #"{"id":"b","edit":\#(GatewayRig.sepia)}"#)
        #expect(batch.status == 201, "\(batch.text)")
        let members = try await rig.send(
            "PUT", "/v1/batches/b/members?from=0", key: key,
            body: #"{"asset":"acme/a.JPG"}"# + "\n")
        #expect(members.status == 200, "\(members.text)")
        let replay = try await rig.send("POST", "/v1/replays", key: key, json: "{}")
        #expect(replay.status == 202, "\(replay.text)")
        let token = SessionStore.formToken(of: try #require(person.cookie("__Host-minilab")))
        let paused = try await person.send("POST", "/limits", "csrf=\(token)&action=pause&reason=x")
        #expect(paused.status == 303, "\(paused.text)")
    }

    private func keys(of rig: GatewayRig) async throws -> [String] {
        let reply = try await rig.redis.send(["KEYS", RedisArgument("*\(rig.queue.name)*")])
        return (reply.array ?? []).compactMap(\.string).sorted()
    }

    /// Commands that read and change a key of a type, and those for keys of all types.
    private func commands(_ key: String, _ type: String, beside other: String) -> [[String]] {
        let own: [String: [[String]]] = [
            "string": [["GET", key], ["SET", key, "x"]],
            "hash": [["HGETALL", key], ["HSET", key, "x", "y"], ["HDEL", key, "x"]],
            "zset": [["ZRANGE", key, "0", "-1"], ["ZADD", key, "1", "x"]],
            "list": [["LRANGE", key, "0", "-1"], ["LPUSH", key, "x"]],
            "stream": [
                ["XRANGE", key, "-", "+"], ["XADD", key, "*", "x", "y"],
                ["XTRIM", key, "MAXLEN", "0"], ["XREAD", "STREAMS", key, "0"],
            ],
        ]
        return (own[type] ?? []) + [
            ["EXISTS", key], ["UNLINK", key], ["MEMORY", "USAGE", key], ["RENAME", key, other],
            ["RENAME", other, key], ["XADD", key, "*", "x", "y"],
        ]
    }

    @Test
    func
        `of all keys that a busy gateway leaves, workers, producers and readers can read and change none that is its own`()
        async throws
    {
        let place = try await ProviderRig()
        let rig = place.rig
        try await use(place)
        let (of, jobs) = ("minilab-gateway:{\(rig.queue.name)}:", "minilab:{\(rig.queue.name)}:")
        let left = try await eventually("each kind of key is there") {
            let all = try await keys(of: rig)
            let found = all.filter { $0.hasPrefix(of) }.map { Self.kind($0.dropFirst(of.count)) }
            return Self.kinds.isSubset(of: found) ? all : nil
        }
        let owned = left.filter { $0.hasPrefix(of) }
        #expect(Set(owned.map { Self.kind($0.dropFirst(of.count)) }) == Self.kinds)
        // What else there is belongs to the queue, and the worker reaches it: no key is nobody's.
        for key in left where !key.hasPrefix(of) {
            #expect(key.hasPrefix(jobs))
            let answer = try await rig.redis.send([
                "ACL", "DRYRUN", "worker", "UNLINK", RedisArgument(key),
            ])
            #expect(answer.string == "OK", "\(key)")
        }

        for user in [RedisUser.worker, .producer, .reader] {
            let client = RedisClient(
                RedisConfiguration(url: try RedisURL(rig.server.url(as: user))),
                logger: Logger(label: "test"))
            for key in owned {
                let type = try await rig.redis.send(["TYPE", RedisArgument(key)]).string ?? ""
                for command in commands(key, type, beside: jobs + "counters") {
                    let error = await #expect(throws: RedisError.self, "\(user) \(command)") {
                        try await client.send(command.map { RedisArgument($0) })
                    }
                    #expect(error?.serverError?.prefix == "NOPERM", "\(user) \(command)")
                    // A worker may run the command, and not on this key.
                    #expect(
                        user != .worker || error?.message.contains("access") == true,
                        "\(command): \(error?.message ?? "")")
                }
            }
            await client.close()
        }
        #expect(try await Set(owned).subtracting(keys(of: rig)) == [])
    }

    @Test func `a script of a worker reaches no key of the gateway either`() async throws {
        let rig = try await GatewayRig()
        _ = try await rig.key("acme", scopes: [.read])
        let worker = RedisClient(
            RedisConfiguration(url: try RedisURL(rig.server.url(as: .worker))),
            logger: Logger(label: "test"))
        let prefixes = ["minilab:{\(rig.queue.name)}:", "minilab-gateway:{\(rig.queue.name)}:"]
        for (call, isMade) in [
            ("redis.call('HGETALL', ARGV[1] .. 'keys')", false),
            ("redis.call('HSET', ARGV[1] .. 'keys', 'a', 'b')", false),
            ("redis.call('RENAME', ARGV[2] .. 'virtual', ARGV[1] .. 'keys')", false),
            ("redis.call('EXISTS', ARGV[2] .. 'keys')", true),
        ] {
            let script = RedisScript(name: "probe", source: "#!lua\nreturn \(call)")
            var refusal: String?
            do {
                _ = try await worker.run(
                    script, keys: [prefixes[0]],
                    arguments: [RedisArgument(prefixes[1]), RedisArgument(prefixes[0])])
            } catch {
                refusal = error.message
            }
            let isRefused = ["The user executing the script", "ACL failure in script"]
                .contains { refusal?.contains($0) == true }
            #expect(isRefused != isMade && (refusal == nil) == isMade, "\(call): \(refusal ?? "")")
        }
        await worker.close()
    }
}
