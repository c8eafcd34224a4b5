import AccessKeys
import Edits
import Foundation
import HTTPTypes
import JobQueue
import MinilabTesting
import Operations
import Redis
import SystemPackage
import Testing

@testable import Gateway

/// Every route and page with the names of another's objects: called by a key of another folder of the same tenant, by one of
/// another tenant, and by an operator's key of another folder. They see nothing and change nothing.
@Suite("another's objects") struct ForeignObjectsTests {
    /// Routes without a name in their path are about a set, and each states here how it is asked for another's objects. A new
    /// one without an entry fails the test. Routes with a name are asked for the owner's object, and answer 404.
    private static let sets: [String: @Sendable (World, Caller) -> [Request]] = [
        "submitJob": { world, caller in
            [
                Request(json: #"{"asset":"acme/b/1.jpg","edit":{"filters":[]}}"#),
                Request(
                    json:
                        #"{"asset":"\#(caller.folder)1.jpg","edit":{"mode":"copyEdit","from":"acme/b/1.jpg"}}"#
                ),
                Request(
                    json: #"{"id":"dead1","asset":"\#(caller.folder)1.jpg","edit":{"filters":[]}}"#,
                    headers: ["Prefer": "wait=0"], allowed: [202, 409], echoes: "acme.dead1"),
            ]
        },
        "openBatch": { _, _ in
            [Request(json: World.batch, allowed: [201, 409], echoes: "acme.spring")]
        },
        "listBatches": { _, _ in
            [Request(allowed: [200]), Request(query: "open=true", allowed: [200])]
        },
        "readEvents": { _, _ in [Request(query: "after=0", allowed: [200])] },
        "listDead": { _, _ in
            [
                Request(allowed: [200]), Request(query: "batch=acme.spring", allowed: [200]),
                Request(query: "tenant=acme", allowed: [200, 404]),
                Request(query: "code=missingAsset&since=1h", allowed: [200]),
            ]
        },
        "groupDead": { _, _ in [Request(allowed: [200])] },
        "replay": { _, _ in
            let edit = #""withEdit":{"filters":[{"name":"CIColorInvert"}]}"#
            return [
                Request(json: #"{"dryRun":true}"#, allowed: [200]),
                Request(json: "{\(edit)}", allowed: [202]),
                Request(json: #"{"batch":"acme.spring","dryRun":true}"#, allowed: [200]),
                Request(json: #"{"tenant":"acme"}"#, allowed: [202, 404]),
            ]
        },
        "listReplays": { _, _ in [Request(allowed: [200])] },
        "listWebhooks": { _, _ in [Request(allowed: [200])] },
        "createWebhook": { world, _ in
            // The secret and the address are the caller's own.
            [
                Request(
                    json: #"{"url":"http://127.0.0.1:9/","eventTypes":["job.failed"]}"#,
                    allowed: [201])
            ]
        },
        "GET /find": { world, _ in
            world.names.map {
                Request(
                    query: "q=\($0)", allowed: [200], hides: ["/jobs/", "/batches/", "/assets/"])
            }
        },
        "GET /batches": { _, _ in [Request(allowed: [200])] },
        "GET /dead": { _, _ in
            [
                Request(allowed: [200]), Request(query: "list=1", allowed: [200]),
                Request(query: "list=1&batch=acme.spring", allowed: [200]),
            ]
        },
        "GET /dead/replay": { _, _ in
            [Request(allowed: [200]), Request(query: "batch=acme.spring", allowed: [200])]
        },
        "POST /dead/replay": { _, _ in [Request(allowed: [303])] },
        "GET /webhooks": { _, _ in [Request(allowed: [200])] },
        "POST /webhooks": { _, _ in [Request(allowed: [422])] },
        "GET /ui/live": { world, _ in
            [
                Request(query: "page=job&of=acme.dead1"),
                Request(query: "page=batch&of=acme.spring"),
                Request(query: "page=replay&of=\(world.replay)"),
                Request(query: "page=now", allowed: [403]),
            ]
        },
    ]

    /// Bodies of routes with a name in their path that are read before the name is looked up.
    private static let bodies = [
        "addMembers": #"{"asset":"acme/b/2.jpg"}"#, "sealBatch": #"{"jobs":1}"#,
        "updateWebhook": #"{"state":"disabled"}"#, "replayWebhook": #"{"since":0}"#,
        "sendOriginal": "no photo",
    ]
    private static let queries = ["compareVersions": "from=original"]

    @Test(arguments: Caller.all)
    func `are not seen and not changed, whatever route is called`(_ caller: Caller) async throws {
        let world = try await World()
        let rig = world.rig
        let key = try await rig.key(
            caller.tenant, scopes: Set(Scope.allCases), prefix: caller.folder)
        let browser = try await Browser(rig, key: key)
        let before = try await world.state()
        for route in RouteTable.routes {
            guard route.access.scope != nil else { continue }
            let called = "\(route.method) \(route.path)"
            for request in try Self.requests(of: route, world, caller) {
                let path = world.filled(route.path) + (request.query.map { "?\($0)" } ?? "")
                try #require(
                    !path.contains("{"), "\(called) names something that this test does not know")
                let (status, text): (Int, String)
                if route.access.isPage {
                    let answer = try await browser.send(route.method.rawValue, path)
                    (status, text) = (answer.status, answer.body)
                } else {
                    let answer = try await rig.send(
                        route.method.rawValue, path, key: key,
                        json: route.takesJSON ? request.json : nil,
                        body: route.takesJSON ? nil : request.json, headers: request.headers)
                    (status, text) = (answer.status, answer.text)
                }
                #expect(request.allowed.contains(status), "\(called) \(request): \(status) \(text)")
                let asked = path + (request.json ?? "") + request.echoes
                for word in world.secrets + request.hides where !asked.contains(word) {
                    #expect(!text.contains(word), "\(called) \(request) shows \(word): \(text)")
                }
            }
        }
        try await world.replaysEnd()
        #expect(try await world.state() == before)
    }

    /// The requests with which a route is called.
    private static func requests(
        of route: Route, _ world: World, _ caller: Caller
    ) throws -> [Request] {
        if route.access.isForOperators { return [Request(allowed: [403])] }
        if let requests = sets[route.name] { return requests(world, caller) }
        guard route.path.contains("{") else {
            Issue.record(
                "\(route.name) is about a set of objects: state in `sets` how it is asked for another's."
            )
            return []
        }
        return [Request(json: bodies[route.name], query: queries[route.name])]
    }

    @Test func `are told by no webhook, neither as they happen nor again`() async throws {
        let world = try await World()
        let rig = world.rig
        let receiver = try await Receiver.start()
        var keys: [String] = []
        for caller in Caller.all {
            let key = try await rig.key(
                caller.tenant, scopes: [.enqueue], prefix: caller.folder)
            let (id, _) = try await WebhookRoutesTests.make(
                rig, receiver, key,
                types: #"["job.completed","job.failed","job.cancelled","batch.completed"]"#)
            let replay = try await rig.send(
                "POST", "/v1/webhooks/\(id)/replay", key: key, json: #"{"since":"2h"}"#)
            #expect(replay.status == 202, "\(replay.text)")
            keys.append(key)
        }
        _ = try await rig.send("POST", "/v1/batches/acme.spring/cancel", key: world.owner)
        for (caller, key) in zip(Caller.all, keys) {
            let last = "last-\(caller.name)"
            try await rig.post(last, "\(caller.folder)1.jpg", key: key)
            _ = try await rig.send("POST", "/v1/jobs/\(last)/cancel", key: key)
        }
        // Events are delivered in their order.
        try await eventually("the last events are delivered") {
            Caller.all.allSatisfy { caller in
                receiver.messages.contains { $0.body.contains("last-\(caller.name)") }
            } ? () : nil
        }
        for message in receiver.messages {
            for word in world.secrets {
                #expect(!message.body.contains(word), "\(message.body)")
            }
        }
    }

    @Test func `do not answer for a job of the same name that a trusted producer sent`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.read, .operate, .enqueue])
        // Names like the tenant's own, of another tenant; and the tenant's, beyond its folder.
        for (id, asset, tenant) in [
            ("acme.x", "acme/x.jpg", "globex"), ("acme.y", "globex/y.jpg", "acme"),
            ("order-7", "acme/z.jpg", "acme"),
        ] {
            _ = try await rig.redis.send([
                "XADD", RedisArgument(rig.queue.name.keys.ingress), "*", "id", RedisArgument(id),
                "asset", RedisArgument(asset), "tenant", RedisArgument(tenant), "edit",
                RedisArgument(GatewayRig.sepia),
            ])
        }
        _ = try await rig.queue.admit()
        for claim in try await rig.queue.claim(by: "w", count: 5).jobs {
            _ = try await rig.queue.fail(claim, by: "w", Failure(.missingAsset, "no"), random: 0)
        }
        #expect(try await rig.queue.status()[.dead] == 3)
        for path in ["/v1/events?after=0", "/v1/dead", "/v1/dead/groups"] {
            let answer = try await rig.send("GET", path, key: key)
            #expect(answer.status == 200, "\(answer.text)")
            for word in ["globex", "order-7", "acme.x", "acme.y", "missingAsset"] {
                #expect(!answer.text.contains(word), "\(path): \(answer.text)")
            }
        }
        for id in ["acme.x", "acme.y", "order-7"] {
            #expect(try await rig.send("GET", "/v1/jobs/\(id)", key: key).status == 404, "\(id)")
        }
        let replay = try await rig.send("POST", "/v1/replays", key: key, json: "{}")
        #expect(replay.json["expected"]?.number == 0, "\(replay.text)")
        let path = try #require(replay.header("Location"))
        try await eventually("the replay is done") {
            try await rig.send("GET", path, key: key).json["state"]?.text == "done" ? () : nil
        }
        #expect(try await rig.queue.status()[.dead] == 3)
    }

    @Test func `are not named by the cursor of a list that passes over them`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.operate])
        let prefix = "minilab:{\(rig.queue.name)}:"
        /// Dead jobs, so many in a millisecond.
        func die(_ tenant: String, _ numbers: Range<Int>, atOnce: Int) async {
            for number in numbers {
                let (id, died) = ("\(tenant).\(number)", RedisArgument(1000 + number / atOnce))
                let replies = await rig.redis.sendAll([
                    [
                        "HSET", RedisArgument(prefix + "job:" + id), "state", "dead", "asset",
                        RedisArgument("\(tenant)/1.jpg"), "tenant", RedisArgument(tenant),
                        "ended", died, "code", "missingAsset",
                    ],
                    ["ZADD", RedisArgument(prefix + "dead"), died, RedisArgument(id)],
                ])
                #expect(replies.count == 2)
            }
        }
        await die("globex", 0..<2500, atOnce: 1200)
        await die("acme", 0..<30, atOnce: 15)
        var seen: [String] = []
        var path = "/v1/dead?count=20"
        while true {
            let page = try await rig.send("GET", path, key: key)
            try #require(page.status == 200 && !page.text.contains("globex"), "\(page.text)")
            seen += page.json["dead"]?.list?.compactMap { $0["job"]?.text } ?? []
            guard let next = page.json["next"]?.text else { break }
            path = "/v1/dead?count=20&after=\(next)"
        }
        #expect(seen.count == 30 && Set(seen).count == 30, "\(seen)")
    }

    @Test func `take no members of another folder, which readers of the batch would see`()
        async throws
    {
        let rig = try await GatewayRig()
        let narrow = try await rig.key("acme", scopes: [.enqueue, .read], prefix: "acme/a/")
        let wide = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send("POST", "/v1/batches", key: narrow, json: World.batch)
        let path = "/v1/batches/spring/members"
        let other = try await rig.send("PUT", path, key: wide, body: #"{"asset":"acme/b/1.jpg"}"#)
        #expect(other.status == 404 && other.json["next"]?.number == 0, "\(other.text)")
        let own = try await rig.send("PUT", path, key: wide, body: #"{"asset":"acme/a/1.jpg"}"#)
        #expect(own.status == 200, "\(own.text)")
        let read = try await rig.send("GET", "/v1/batches/spring", key: narrow)
        #expect(read.json["record"]?["folder"]?.text == "acme/a/", "\(read.text)")
    }

    @Test func `lend their edit to no asset of a narrower key`() async throws {
        let rig = try await GatewayRig()
        let narrow = try await rig.key("acme", scopes: [.enqueue, .read], prefix: "acme/a/")
        let wide = try await rig.key("acme", scopes: [.enqueue, .read])
        let edit = #"{"mode":"copyEdit","from":"acme/b/secret.jpg"}"#
        let opened = try await rig.send(
            "POST", "/v1/batches", key: wide, json: #"{"id":"copy","edit":\#(edit)}"#)
        #expect(opened.status == 201, "\(opened.text)")
        let answer = try await rig.send(
            "PUT", "/v1/batches/copy/members", key: narrow, body: #"{"asset":"acme/a/1.jpg"}"#)
        #expect(answer.status == 404, "\(answer.text)")
        // With the same edit as the batch's, and with another: one answer, which does not tell which.
        var answers: Set<String> = []
        for edit in [#"{"mode":"undo"}"#, #"{"mode":"redo"}"#] {
            _ = try await rig.send(
                "POST", "/v1/batches", key: wide, json: #"{"id":"undo","edit":{"mode":"undo"}}"#)
            let again = try await rig.send(
                "POST", "/v1/batches", key: narrow, json: #"{"id":"undo","edit":\#(edit)}"#)
            #expect(again.status == 409)
            answers.insert(again.text)
        }
        #expect(answers.count == 1, "\(answers)")
    }

    @Test func `calls that read whole originals have a share for each tenant`() async throws {
        func key(_ tenant: String?) throws -> AccessKey {
            let terms = try KeyTerms(
                tenant: tenant.map { try JobID($0) }, assetPrefix: .all, scopes: [.operate])
            return AccessKey(id: "k", terms: terms, createdAt: 0)
        }
        let permits = CallPermits(streamsMax: 1)
        let (shared, ofTenant) = (
            permits.costlyCalls.limits.all - permits.costlyCalls.limits.reserve,
            permits.costlyCalls.limits.ofTenantMax
        )
        func fill(_ count: Int, _ keys: [AccessKey]) async throws {
            if count == 0 { throw Full() }
            try await permits.costly(of: keys[count % keys.count]) {
                try await fill(count - 1, keys)
            }
        }
        let acme = try [key("acme")]
        await #expect(throws: Full.self) { try await fill(ofTenant, acme) }
        await #expect(throws: Problem.self) { try await fill(ofTenant + 1, acme) }
        let many = try (0..<shared).map { try key("t\($0)") }
        await #expect(throws: Full.self) { try await fill(shared, many) }
        await #expect(throws: Problem.self) { try await fill(shared + 1, many) }
        // Operators have a reserve that tenants cannot use up, and all permits are given back.
        func fillBesideAll(_ count: Int) async throws {
            if count == 0 {
                return try await fill(permits.costlyCalls.limits.reserve, [try key(nil)])
            }
            try await permits.costly(of: many[count % many.count]) {
                try await fillBesideAll(count - 1)
            }
        }
        await #expect(throws: Full.self) { try await fillBesideAll(shared) }
        #expect(permits.costlyCalls.count == 0)
    }

    private struct Full: Error {}
}

extension ForeignObjectsTests {
    /// A caller whose objects these are not.
    struct Caller: Sendable, CustomTestStringConvertible {
        let name: String
        let tenant: String?
        let folder: String

        static let all = [
            Caller(name: "narrow", tenant: "acme", folder: "acme/a/"),
            Caller(name: "stranger", tenant: "globex", folder: "globex/"),
            Caller(name: "operator", tenant: nil, folder: "globex/"),
        ]
        var testDescription: String { name }
    }

    /// A request to a route, and the statuses that it may have.
    struct Request: Sendable {
        var json: String?
        var query: String?
        var headers: [String: String] = [:]
        var allowed = [404]
        /// A name of the owner's object that is the caller's own word with their tenant.
        var echoes = ""
        /// Words beside the owner's secrets that the answer must not have.
        var hides: [String] = []
    }

    /// A gateway and a queue with one object of each kind, of the key for `acme/b/`.
    struct World {
        let rig: GatewayRig
        let owner: String
        let replay: String
        let webhook: String
        let message: String

        static let batch = #"{"id":"spring","edit":{"filters":[{"name":"CIPhotoEffectNoir"}]}}"#

        init() async throws {
            rig = try await WebhookRoutesTests.rig()
            owner = try await rig.key("acme", scopes: Set(Scope.allCases), prefix: "acme/b/")
            let originals = rig.folder.file("library/originals/acme/b")
            try FileManager.default.createDirectory(
                atPath: originals, withIntermediateDirectories: true)
            try SyntheticPhoto.png(width: 30, height: 20)
                .write(to: URL(filePath: originals + "/1.jpg"))
            let made = try await rig.send(
                "POST", "/v1/webhooks", key: owner,
                json: #"{"url":"http://127.0.0.1:9/of-b","eventTypes":["job.failed"]}"#)
            webhook = try #require(made.json["webhook"]?["id"]?.text)
            let test = try await rig.send("POST", "/v1/webhooks/\(webhook)/test", key: owner)
            message = try #require(test.json["message"]?.text)
            try await rig.post("done1", "acme/b/1.jpg", key: owner)
            try await rig.complete(1)
            try await rig.kill([("dead1", "acme/b/1.jpg")], key: owner)
            let order = try await rig.send(
                "POST", "/v1/replays", key: owner, json: #"{"codes":["damagedPhoto"]}"#)
            replay = try #require(order.json["id"]?.text)
            _ = try await rig.send("POST", "/v1/batches", key: owner, json: Self.batch)
            _ = try await rig.send(
                "PUT", "/v1/batches/spring/members", key: owner, body: #"{"asset":"acme/b/1.jpg"}"#)
            try await rig.post("open1", "acme/b/1.jpg", key: owner)
            try await replaysEnd()
        }

        /// Names under which the objects are looked for.
        var names: [String] {
            ["acme.dead1", "acme.spring", "batch:acme.spring", "acme/b/1.jpg"]
        }

        /// Facts that only a caller who sees an object can know.
        var secrets: [String] {
            [
                "acme/b", "acme.dead1", "acme.open1", "acme.done1", "acme.spring", "CISepiaTone",
                "CIPhotoEffectNoir", "of-b", webhook, replay, message, "missingAsset",
            ]
        }

        /// Returns the path of a route about the owner's objects.
        func filled(_ path: String) -> String {
            let id =
                path.contains("/webhooks/")
                ? webhook : path.contains("/replays/") ? replay : "acme.dead1"
            return path.replacing("{id}", with: id).replacing("{batch}", with: "acme.spring")
                .replacing("{asset...}", with: "acme/b/1.jpg")
                .replacing("{message}", with: message).replacing("{tenant}", with: "acme")
                .replacing("{name}", with: "web")
        }

        /// Waits until no replay runs.
        func replaysEnd() async throws {
            try await eventually("all replays have ended") {
                try await rig.parts.replays.list().allSatisfy { $0.state != .running } ? () : nil
            }
        }

        /// The owner's objects, as the owner and Redis see them.
        func state() async throws -> [String: String] {
            var state: [String: String] = [:]
            for path in [
                "/v1/jobs/dead1", "/v1/jobs/done1", "/v1/dead", "/v1/dead/groups",
                "/v1/events?after=0", "/v1/webhooks", "/v1/replays", "/v1/history/acme/b/1.jpg",
            ] {
                let answer = try await rig.send("GET", path, key: owner)
                state[path] = "\(answer.status) \(answer.text)"
            }
            let keys = try await rig.redis.send([
                "KEYS", RedisArgument("minilab:{\(rig.queue.name)}:*acme.*"),
            ]).array
            for key in keys?.compactMap(\.string).sorted() ?? [] {
                let dump = try await rig.redis.send(["DUMP", RedisArgument(key)])
                state[key] = "\(dump.bytes ?? [])"
            }
            let files = try FileManager.default.subpathsOfDirectory(
                atPath: rig.folder.file("library"))
            state["files"] = files.sorted().joined(separator: "\n")
            return state
        }
    }
}

extension Route {
    fileprivate var takesJSON: Bool {
        switch body {
        case .json, .optionalJSON: true
        case .none, .lines, .file, .form: false
        }
    }
}
