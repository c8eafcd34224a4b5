import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import Redis
import Testing
import Webhooks

@testable import Gateway

@Suite("sessions and forms") struct SessionTests {
    /// Signs in and returns the cookie.
    private func signIn(_ key: String, _ rig: GatewayRig) async throws -> String {
        let answer = try await rig.send(
            "POST", "/signin", body: "key=\(key)",
            headers: [
                "Host": "localhost:\(rig.port)", "Sec-Fetch-Site": "same-origin",
                "Content-Type": "application/x-www-form-urlencoded",
            ])
        try #require(answer.status == 303, "\(answer.text)")
        return try #require(answer.header("Set-Cookie")).split(separator: ";").first.map(
            String.init)
            ?? ""
    }

    private func get(_ path: String, _ cookie: String?, _ rig: GatewayRig) async throws
        -> GatewayRig.Answer
    {
        var headers = ["Host": "localhost:\(rig.port)"]
        headers["Cookie"] = cookie
        return try await rig.send("GET", path, headers: headers)
    }

    @Test func `an operator signs in and acts while Redis is full`() async throws {
        let rig = try await GatewayRig(on: try await RedisServer.start())
        let key = try await rig.key(scopes: [.read, .operate])
        _ = try await rig.redis.send(["CONFIG", "SET", "maxmemory", "1"])
        let cookie = try await signIn(key, rig)
        #expect(try await get("/batches", cookie, rig).status == 200)
        let paused = try await rig.send("PUT", "/v1/pause", key: key, json: #"{"reason":"full"}"#)
        #expect(paused.status < 300, "\(paused.text)")
        #expect(try await rig.send("DELETE", "/v1/pause", key: key).status < 300)
        // One who returns from an identity provider is let in, too.
        let used = UsedSignIns(redis: rig.parts.events.redis, queue: rig.queue.name)
        #expect(try await used.use("a state"))
        #expect(try await !used.use("a state"))
    }

    @Test func `a key is exchanged for a session, which ends with the key`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.read, .operate])
        let cookie = try await signIn(key, rig)
        #expect(!cookie.contains("mlk_"))
        #expect(try await get("/batches", cookie, rig).status == 200)
        let page = try await get("/", cookie, rig)
        #expect(page.status == 200 && page.text.contains("All is well"))
        #expect(page.header("Content-Security-Policy")?.contains("default-src 'none'") ?? false)
        let admin = try await get("/keys", cookie, rig)
        #expect(admin.status == 403 && admin.text.contains("admin"))
        try await rig.parts.keyStore.revoke(String(key.split(separator: "_")[1]))
        try await eventually("the revocation is heard") {
            try await get("/batches", cookie, rig).status == 303 ? true : nil
        }
    }

    @Test func `a page's live parts end with its session, and show no more than its scopes`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.read])
        let cookie = try await signIn(key, rig)
        #expect(try await get("/ui/live?page=replay&of=r1", cookie, rig).status == 403)
        // The answer ends when the stream does.
        async let live = get("/ui/live?page=batches", cookie, rig)
        try await eventually("the stream is open") {
            rig.parts.permits.streams.count == 1 ? true : nil
        }
        try await rig.parts.signIn.sessions.end(
            String(cookie.split(separator: "=", maxSplits: 1)[1]))
        #expect(try await live.status == 200)
    }

    @Test func `a page's live parts count as requests of its key`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(
            "acme", scopes: [.read], quotas: KeyQuotas(requestsPerSecond: 1, requestBurst: 1_000))
        let cookie = try await signIn(key, rig)
        let pages = (0..<3).map { _ in
            Task { try await get("/ui/live?page=batches", cookie, rig) }
        }
        try await eventually("the streams are open") {
            rig.parts.permits.streams.count == 3 ? true : nil
        }
        func left() async throws -> Int {
            let answer = try await rig.send("GET", "/v1/batches", key: key)
            let told = try #require(answer.header("RateLimit"))
            let rest = told.split(separator: ";").first { $0.hasPrefix("r=") }
            return try #require(rest.flatMap { Int($0.dropFirst(2)) })
        }
        let first = try await left()
        var asked = 0
        try await eventually("more is charged than was asked for here") {
            asked += 1
            return first - (try await left()) - asked >= 3 ? true : nil
        }
        try await rig.parts.signIn.sessions.end(
            String(cookie.split(separator: "=", maxSplits: 1)[1]))
        for page in pages { #expect(try await page.value.status == 200) }
    }

    @Test func `strangers who try to sign in keep nobody out`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.read])
        func tries(_ text: String) async throws -> Int {
            try await rig.send(
                "POST", "/signin", body: "key=\(text)",
                headers: ["Host": "localhost:\(rig.port)", "Sec-Fetch-Site": "same-origin"]
            ).status
        }
        // Texts that are no keys, and keys that nobody made.
        for number in 0..<100 {
            #expect(try await tries(number % 2 == 0 ? "x" : KeyText().revealed) == 401)
        }
        for _ in 0..<5 { #expect(try await tries(key) == 303) }
    }

    @Test func `the holder of a key begins a few sessions at a time, and delays no other`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.read])
        let known = try await rig.parts.keys.key(named: String(key.split(separator: "_")[1]))
        #expect(throws: Problem.self) {
            for _ in 0...SignInLimit.atOnce + 10 { try rig.parts.signIn.limit.charge(known) }
        }
        _ = try await signIn(try await rig.key(scopes: [.read]), rig)
    }

    @Test func `a tenant's deeds push out none of the operators', and a change of nothing is none`()
        async throws
    {
        let rig = try await GatewayRig { $0.webhooksAllowed = [try! AddressRange("127.0.0.0/8")] }
        let operators = try await rig.key(scopes: [.read, .operate])
        _ = try await rig.send(
            "PUT", "/v1/pause", key: operators, json: #"{"reason":"deed to keep"}"#)
        let acme = try await rig.key("acme", scopes: [.enqueue])
        let made = try await rig.send(
            "POST", "/v1/webhooks", key: acme, json: #"{"url":"http://127.0.0.1:9/"}"#)
        let id = try #require(made.json["webhook"]?["id"]?.text, "\(made.text)")
        for _ in 0..<3 {
            let same = try await rig.send(
                "PATCH", "/v1/webhooks/\(id)", key: acme, json: #"{"state":"active"}"#)
            #expect(same.status == 200)
        }
        func deeds(_ tenant: String?) async throws -> [String] {
            try await rig.parts.audit.page(of: tenant, before: nil, count: 100).map(\.action)
        }
        #expect(try await deeds(nil) == ["pause"])
        #expect(try await deeds("acme") == ["createWebhook"])
        #expect(try await deeds("globex") == [])
    }

    @Test func `a form of another site, or without the session's token, is refused`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.read, .operate])
        let cookie = try await signIn(key, rig)
        let token = SessionStore.formToken(
            of: String(cookie.split(separator: "=", maxSplits: 1)[1]))
        func post(_ csrf: String, _ site: [String: String]) async throws -> Int {
            try await rig.send(
                "POST", "/limits", body: "action=pause&reason=x&csrf=\(csrf)",
                headers: ["Host": "localhost:\(rig.port)", "Cookie": cookie].merging(site) { $1 }
            ).status
        }
        #expect(try await post(token, ["Sec-Fetch-Site": "cross-site"]) == 403)
        #expect(try await post(token, ["Sec-Fetch-Site": "same-site"]) == 403)
        #expect(try await post(token, ["Origin": "http://evil.example"]) == 403)
        #expect(try await post("0", ["Sec-Fetch-Site": "same-origin"]) == 403)
        #expect(try await rig.queue.status().paused == nil)
        #expect(try await post(token, ["Sec-Fetch-Site": "same-origin"]) == 303)
        #expect(try await post(token, ["Origin": "http://localhost:\(rig.port)"]) == 303)
        #expect(try await rig.queue.status().paused == "x")
    }

    @Test func `pages are not served under a name that is not theirs`() async throws {
        let rig = try await GatewayRig()
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"] {
            let answer = try await rig.send("GET", "/signin", headers: ["Host": host])
            #expect(answer.status == 403, "\(host)")
        }
        let own = try await GatewayRig { $0.publicOrigin = "https://photos.example" }
        #expect(
            try await own.send("GET", "/signin", headers: ["Host": "photos.example"]).status == 200)
        #expect(
            try await own.send("GET", "/signin", headers: ["Host": "localhost"]).status == 403)
    }

    @Test(arguments: ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", ""])
    func `signing in leads to no other site`(_ next: String) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.operate])
        let coded = next.utf8.map {
            "%" + (String($0, radix: 16).count == 1 ? "0" : "") + String($0, radix: 16)
        }
        .joined()
        let answer = try await rig.send(
            "POST", "/signin", body: "key=\(key)&next=\(coded)",
            headers: ["Host": "localhost:\(rig.port)", "Sec-Fetch-Site": "same-origin"])
        #expect(answer.header("Location") == "/", "\(next)")
    }
}
