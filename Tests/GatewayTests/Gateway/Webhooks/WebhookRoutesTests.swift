import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import Redis
import Testing
import Webhooks

@testable import Gateway

@Suite("webhooks over HTTP") struct WebhookRoutesTests {
    /// A gateway whose operator allows webhooks to this machine.
    static func rig() async throws -> GatewayRig {
        let own = try AddressRange("127.0.0.0/8")
        return try await GatewayRig { $0.webhooksAllowed = [own] }
    }

    /// Makes an endpoint; its id and its secret.
    static func make(
        _ rig: GatewayRig, _ receiver: Receiver, _ key: String,
        types: String = #"["job.cancelled"]"#
    ) async throws -> (id: String, secret: String) {
        let made = try await rig.send(
            "POST", "/v1/webhooks", key: key,
            json: #"{"url":"\#(receiver.url)","eventTypes":\#(types)}"#)
        try #require(made.status == 201, "\(made.text)")
        let id = try #require(made.json["webhook"]?["id"]?.text)
        #expect(made.header("Location") == "/v1/webhooks/\(id)")
        return (id, try #require(made.json["secret"]?.text))
    }

    /// Appends an event as the queue does: a job was cancelled. Its tenant and its asset's folder are what its id begins with.
    static func cancel(
        _ job: String, _ rig: GatewayRig, at place: String = "*"
    ) async throws {
        let queue = rig.queue.name
        let tenant = job.prefix { $0 != "." }
        let json =
            #"{"specversion":"1.0","id":"\#(queue)/\#(job)/1/cancelled","source":"minilab/\#(queue)","#
            + #""type":"org.minilab.job.cancelled","subject":"\#(tenant)/a.jpg","time":"2026-01-01T00:00:00.000Z","tenant":"\#(tenant)","#
            + #""datacontenttype":"application/json","dataschema":"urn:minilab:event:1","data":{"job":"\#(job)","#
            + #""asset":"\#(tenant)/a.jpg","generation":1,"reason":"no more"}}"#
        _ = try await rig.redis.send([
            "XADD", RedisArgument(queue.keys.events), RedisArgument(place), "event",
            RedisArgument(json),
        ])
    }

    private static func waitFor(_ count: Int, _ receiver: Receiver) async throws {
        try await eventually("\(count) messages come") {
            receiver.messages.count >= count ? () : nil
        }
    }

    @Test
    func
        `an event of a tenant's job is delivered and signed, one of another's is not, and both are listed as deliveries`()
        async throws
    {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let (id, secret) = try await Self.make(rig, receiver, key)
        try await Self.cancel("zebra.1", rig)
        try await Self.cancel("acme.1", rig)
        try await Self.waitFor(1, receiver)
        let message = try #require(receiver.messages.first)
        #expect(message.body.contains(#""job":"acme.1""#), "\(message.body)")
        let bytes = try #require(Data(base64Encoded: String(secret.dropFirst("whsec_".count))))
        let signed = "\(message.id).\(message.header("webhook-timestamp")).\(message.body)"
        let code = HMAC.sha256(of: signed.utf8, key: bytes)
        #expect(
            message.header("webhook-signature") == "v1," + Data(code).base64EncodedString())

        let list = "/v1/webhooks/\(id)/deliveries"
        let delivery = try await eventually("the delivery is listed") {
            try await rig.send("GET", list, key: key).json["deliveries"]?.list?.first
        }
        #expect(delivery["message"]?.text == message.id && delivery["status"]?.number == 204)
        let again = try await rig.send("POST", "\(list)/\(message.id)/replay", key: key)
        #expect(again.status == 200 && again.json["attempt"]?.number == 2, "\(again.text)")
        let test = try await rig.send("POST", "/v1/webhooks/\(id)/test", key: key)
        #expect(test.status == 200 && test.json["status"]?.number == 204, "\(test.text)")
        let replay = try await rig.send(
            "POST", "/v1/webhooks/\(id)/replay", key: key, json: #"{"since":"2h"}"#)
        #expect(replay.status == 202, "\(replay.text)")
        // The stream does not reach back so far, which is told before its events.
        try await Self.waitFor(5, receiver)
        let messages = receiver.messages
        #expect(messages[1].id == message.id && messages[4].id == message.id)
        #expect(messages[1].body == message.body && messages[4].body == message.body)
        #expect(messages[3].body.contains("org.minilab.webhook.gap"))
        #expect(messages[2].body.contains("org.minilab.webhook.test"))
    }

    @Test func `a replay begins with the first event of its millisecond`() async throws {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key(scopes: [.enqueue])
        let (id, _) = try await Self.make(rig, receiver, key)
        for place in ["1000-0", "2000-0", "2000-1"] {
            try await Self.cancel("at-\(place)", rig, at: place)
        }
        try await Self.waitFor(3, receiver)
        let replay = try await rig.send(
            "POST", "/v1/webhooks/\(id)/replay", key: key, json: #"{"since":2000}"#)
        #expect(replay.status == 202, "\(replay.text)")
        try await Self.waitFor(5, receiver)
        let messages = receiver.messages
        #expect(messages[3...].map(\.id) == messages[1...2].map(\.id))
        #expect(messages[3...].map(\.body) == messages[1...2].map(\.body))
    }

    @Test
    func `a message that cannot be sent again is said to be gone, and an unknown one unknown`()
        async throws
    {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key(scopes: [.enqueue])
        let (id, _) = try await Self.make(rig, receiver, key)
        let path = "/v1/webhooks/\(id)"
        let test = try await rig.send("POST", "\(path)/test", key: key)
        let message = try #require(test.json["message"]?.text)
        let gone = try await rig.send("POST", "\(path)/deliveries/\(message)/replay", key: key)
        #expect(gone.status == 410 && gone.code == "gone", "\(gone.text)")
        let unknown = try await rig.send("POST", "\(path)/deliveries/msg_1/replay", key: key)
        #expect(unknown.status == 404 && unknown.code == "notFound", "\(unknown.text)")
        #expect(receiver.messages.count == 1)
    }

    @Test func `only a few messages are tried at a time for a key`() async throws {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let (id, _) = try await Self.make(rig, receiver, key)
        let keyID = String(key.split(separator: "_")[1])
        let known = try await rig.parts.keys.key(named: keyID)
        let trials = rig.parts.permits.trials
        let held = (0..<trials.ofKeyMax).compactMap { _ in trials.take(for: known) }
        let refused = try await rig.send("POST", "/v1/webhooks/\(id)/test", key: key)
        #expect(refused.status == 429 && refused.code == "tooManyTrials", "\(refused.text)")
        for permit in held { permit.close() }
        #expect(try await rig.send("POST", "/v1/webhooks/\(id)/test", key: key).status == 200)
        #expect(trials.count == 0)
    }

    @Test func `an endpoint is another's to nobody, whatever is asked of it`() async throws {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let (id, _) = try await Self.make(rig, receiver, key)
        let zebra = try await rig.key("zebra", scopes: [.enqueue])
        let narrower = try await rig.key("acme", scopes: [.enqueue], prefix: "acme/raw/")
        let path = "/v1/webhooks/\(id)"
        for stranger in [zebra, narrower] {
            let list = try await rig.send("GET", "/v1/webhooks", key: stranger)
            #expect(list.json["webhooks"]?.list == [])
            let calls: [(String, String, String?)] = [
                ("GET", path, nil), ("PATCH", path, #"{"state":"disabled"}"#),
                ("DELETE", path, nil), ("POST", "\(path)/test", nil),
                ("POST", "\(path)/rotate", nil), ("POST", "\(path)/replay", #"{"since":0}"#),
                ("GET", "\(path)/deliveries", nil),
                ("POST", "\(path)/deliveries/msg_1/replay", nil),
            ]
            for (method, path, json) in calls {
                let answer = try await rig.send(method, path, key: stranger, json: json)
                #expect(
                    answer.status == 404 && answer.code == "notFound",
                    "\(method) \(path): \(answer.text)")
            }
        }
        let own = try await rig.send("GET", path, key: key)
        #expect(own.status == 200 && own.json["state"]?.text == "active")
        let all = try await rig.key(scopes: [.enqueue])
        #expect(try await rig.send("GET", path, key: all).status == 200)
        #expect(try await rig.send("DELETE", path, key: key).status == 204)
        #expect(try await rig.send("GET", path, key: key).status == 404)
        #expect(receiver.messages.isEmpty)
    }

    @Test func `a secret is shown once, when it is made and when it is changed`() async throws {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let (id, secret) = try await Self.make(rig, receiver, key)
        let rotated = try await rig.send("POST", "/v1/webhooks/\(id)/rotate", key: key)
        let second = try #require(rotated.json["secret"]?.text)
        #expect(second.hasPrefix("whsec_") && second != secret)
        for path in ["/v1/webhooks", "/v1/webhooks/\(id)", "/v1/webhooks/\(id)/deliveries"] {
            let answer = try await rig.send("GET", path, key: key)
            #expect(answer.status == 200 && !answer.text.contains("whsec_"), "\(answer.text)")
        }
        _ = try await rig.send("POST", "/v1/webhooks/\(id)/test", key: key)
        let signatures = try #require(receiver.messages.last).header("webhook-signature")
        #expect(signatures.split(separator: " ").count == 2, "the old one signs too")
        let entries = try await rig.parts.audit.page(
            of: "acme", before: nil, count: 10)
        #expect(entries.map(\.action) == ["rotateWebhook", "createWebhook"])
        #expect(!entries.contains { $0.detail.contains("whsec_") })
        // A path may be a token.
        #expect(entries.allSatisfy { !$0.detail.contains("/hook") }, "\(entries.map(\.detail))")
    }

    @Test func `what is disabled gets nothing, and goes on where it was`() async throws {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key(scopes: [.enqueue])
        let (id, _) = try await Self.make(rig, receiver, key)
        let (other, _) = try await Self.make(rig, receiver, key)
        let path = "/v1/webhooks/\(id)"
        let disabled = try await rig.send(
            "PATCH", path, key: key, json: #"{"state":"disabled"}"#)
        #expect(disabled.status == 200 && disabled.json["state"]?.text == "disabled")
        #expect(disabled.json["reason"]?.text == "owner")
        try await Self.cancel("a", rig)
        // The other one's message shows that the event was heard.
        try await Self.waitFor(1, receiver)
        #expect(try await rig.send("DELETE", "/v1/webhooks/\(other)", key: key).status == 204)
        #expect(receiver.messages.count == 1)
        let active = try await rig.send("PATCH", path, key: key, json: #"{"state":"active"}"#)
        #expect(active.json["state"]?.text == "active", "\(active.text)")
        try await Self.waitFor(2, receiver)
        #expect(Set(receiver.messages.map(\.id)).count == 2)
    }

    @Test(arguments: [
        (#"{"url":"https://169.254.169.254/latest"}"#, "refusedAddress", "#/url"),
        (#"{"url":"https://[::ffff:10.0.0.1]/"}"#, "refusedAddress", "#/url"),
        (#"{"url":"https://[64:ff9b::7f00:1]/"}"#, "refusedAddress", "#/url"),
        (#"{"url":"http://127.0.0.1:80/"}"#, "refusedAddress", "#/url"),
        (#"{"url":"https://user@example.com/"}"#, "invalidURL", "#/url"),
        (#"{"url":"https://nowhere.invalid/"}"#, "unknownHost", "#/url"),
        (#"{"url":7}"#, "invalidValue", "#/url"),
        (#"{}"#, "missingField", "#/url"),
        (#"{"url":"https://192.0.2.1/","eventTypes":["job.exploded"]}"#, "refusedAddress", "#/url"),
    ])
    func `where nothing may be sent, no endpoint is made or moved`(
        body: String, code: String, pointer: String
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let answer = try await rig.send("POST", "/v1/webhooks", key: key, json: body)
        #expect(answer.status == 422 && answer.code == code, "\(answer.text)")
        #expect(answer.json["pointer"]?.text == pointer, "\(answer.text)")
        let list = try await rig.send("GET", "/v1/webhooks", key: key)
        #expect(list.json["webhooks"]?.list == [])
    }

    @Test func `what is wrong with a change or a replay is said with its place`() async throws {
        let rig = try await Self.rig()
        let receiver = try await Receiver.start()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let (id, _) = try await Self.make(rig, receiver, key)
        let path = "/v1/webhooks/\(id)"
        let calls: [(String, String, String, String, String)] = [
            ("PATCH", path, #"{"url":"https://10.0.0.1/"}"#, "refusedAddress", "#/url"),
            (
                "PATCH", path, #"{"eventTypes":["job.exploded"]}"#, "invalidEventTypes",
                "#/eventTypes"
            ),
            ("PATCH", path, #"{"state":"asleep"}"#, "invalidValue", "#/state"),
            ("POST", "\(path)/replay", #"{"since":"yesterday"}"#, "invalidValue", "#/since"),
            ("POST", "\(path)/replay", #"{"since":1e15}"#, "invalidValue", "#/since"),
            ("POST", "\(path)/replay", "{}", "missingField", "#/since"),
        ]
        for (method, path, json, code, pointer) in calls {
            let answer = try await rig.send(method, path, key: key, json: json)
            #expect(answer.status == 422 && answer.code == code, "\(json): \(answer.text)")
            #expect(answer.json["pointer"]?.text == pointer, "\(json): \(answer.text)")
        }
        let now = try await rig.send("GET", path, key: key)
        #expect(now.json["url"]?.text == receiver.url && now.json["state"]?.text == "active")
    }
}
