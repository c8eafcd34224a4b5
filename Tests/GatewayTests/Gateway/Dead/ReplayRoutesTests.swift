import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import Operations
import Redis
import Testing

@testable import Gateway

@Suite("dead jobs over HTTP") struct ReplayRoutesTests {
    private func rigWithDead(_ count: Int) async throws -> (GatewayRig, key: String) {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read, .operate])
        try await rig.kill((0..<count).map { ("o\($0)", "acme/\($0).jpg") }, key: key)
        return (rig, key)
    }

    @Test func `dead jobs are listed page by page, and counted by cause`() async throws {
        let (rig, key) = try await rigWithDead(7)
        var seen: [String] = []
        var path = "/v1/dead?count=3"
        while true {
            let page = try await rig.send("GET", path, key: key)
            try #require(page.status == 200, "\(page.text)")
            seen += page.json["dead"]?.list?.compactMap { $0["job"]?.text } ?? []
            #expect(!page.text.contains("/srv/photos"))
            guard let next = page.json["next"]?.text else { break }
            path = "/v1/dead?count=3&after=\(next)"
        }
        #expect(Set(seen) == Set((0..<7).map { "acme.o\($0)" }) && seen.count == 7)
        let groups = try await rig.send("GET", "/v1/dead/groups", key: key)
        #expect(groups.json["groups"]?.list?.first?["jobs"]?.number == 7)
        let stranger = try await rig.key("zebra", scopes: [.operate])
        let other = try await rig.send("GET", "/v1/dead", key: stranger)
        #expect(other.json["dead"]?.list?.isEmpty ?? false)
        #expect(try await rig.send("GET", "/v1/dead?tenant=acme", key: stranger).status == 404)
        let bundle = try await rig.send("GET", "/v1/jobs/acme.o0/bundle", key: key)
        #expect(bundle.json["code"]?.text == "missingAsset", "\(bundle.text)")
        #expect(!bundle.text.contains("/srv/photos"))
    }

    @Test func `jobs that died ahead of this machine's clock are replayed, too`() async throws {
        let (rig, key) = try await rigWithDead(2)
        // The gateway's clock is behind, or the server's was ahead.
        let ahead = try await rig.queue.now() + 3_600_000
        _ = try await rig.redis.send([
            "ZADD", RedisArgument("minilab:{\(rig.queue.name)}:dead"), RedisArgument(ahead),
            "acme.o0",
        ])
        let preview = try await rig.send("POST", "/v1/replays", key: key, json: #"{"dryRun":true}"#)
        #expect(preview.status == 200 && preview.json["count"]?.number == 2, "\(preview.text)")
    }

    @Test func `a replay is looked at, refused when the count has changed, and carried out`()
        async throws
    {
        let (rig, key) = try await rigWithDead(5)
        let preview = try await rig.send(
            "POST", "/v1/replays", key: key, json: #"{"codes":["missingAsset"],"dryRun":true}"#)
        #expect(preview.status == 200 && preview.json["count"]?.number == 5, "\(preview.text)")
        let until = Int(try #require(preview.json["until"]?.number))
        try await rig.kill([("late", "acme/late.jpg")], key: key)
        let changed = try await rig.send(
            "POST", "/v1/replays", key: key,
            json: #"{"codes":["missingAsset"],"expected":4,"until":\#(until)}"#)
        #expect(changed.status == 409 && changed.code == "countChanged", "\(changed.text)")
        let started = try await rig.send(
            "POST", "/v1/replays", key: key,
            json: #"{"codes":["missingAsset"],"expected":5,"until":\#(until)}"#)
        #expect(started.status == 202, "\(started.text)")
        let path = try #require(started.header("Location"))
        let done = try await eventually("the replay is done") {
            let order = try await rig.send("GET", path, key: key).json
            return order["state"]?.text == "done" ? order : nil
        }
        #expect(done["replayed"]?.number == 5)
        // A job that died after the look is another decision.
        #expect(try await rig.queue.status()[.dead] == 1)
        let stranger = try await rig.key("zebra", scopes: [.operate])
        #expect(try await rig.send("GET", path, key: stranger).status == 404)
    }

    @Test
    func `a tenant's slow replay holds up no other's, and a batch is named as its owner does`()
        async throws
    {
        let (rig, key) = try await rigWithDead(50)
        let slow = try await rig.send("POST", "/v1/replays", key: key, json: #"{"rate":1}"#)
        let slowPath = try #require(slow.header("Location"))
        try await eventually("the slow one has begun") {
            try await rig.send("GET", slowPath, key: key).json["replayed"]?.number ?? 0 > 0
                ? true : nil
        }
        let zebra = try await rig.key("zebra", scopes: [.enqueue, .read, .operate])
        _ = try await rig.send(
            "POST", "/v1/batches", key: zebra, json: #"{"id":"b","edit":\#(GatewayRig.sepia)}"#)
        _ = try await rig.send(
            "PUT", "/v1/batches/b/members?from=0", key: zebra,
            body: #"{"asset":"zebra/1.jpg"}"# + "\n")
        _ = try await rig.queue.admit()
        let claim = try #require(
            try await rig.queue.claim(by: "w", count: 60).jobs.first { $0.job == "zebra.b:0" })
        _ = try await rig.queue.fail(
            claim, by: "w", Failure(.missingAsset, "no file"), random: 0)
        let listed = try await rig.send("GET", "/v1/dead?batch=b", key: zebra)
        #expect(listed.json["dead"]?.list?.count == 1, "\(listed.text)")
        let other = try await rig.send(
            "POST", "/v1/replays", key: zebra, json: #"{"batch":"b"}"#)
        let path = try #require(other.header("Location"))
        let done = try await eventually("the other one is done") {
            let order = try await rig.send("GET", path, key: zebra).json
            return order["state"]?.text == "done" ? order : nil
        }
        #expect(done["replayed"]?.number == 1)
        #expect(try await rig.send("GET", slowPath, key: key).json["state"]?.text == "running")
    }

    @Test func `an order of a gateway that died is carried out by another one`() async throws {
        let (rig, _) = try await rigWithDead(3)
        var order = ReplayOrder(
            id: "r1", DeadFilter(.everything), until: Int.max >> 11, rate: nil, by: "k",
            startedAt: 1,
            expected: 3)
        order = order.leased(by: "gone", until: 1)
        try await rig.parts.replays.add(order, by: nil)
        try await eventually("it is done") {
            try await rig.parts.replays.find("r1")?.state == .done ? true : nil
        }
        #expect(try await rig.parts.replays.find("r1")?.replayed == 3)
    }

    @Test func `a tenant's replays push out none of another's`() async throws {
        let (rig, _) = try await rigWithDead(1)
        /// Adds an order that has ended.
        func add(_ id: String, _ tenant: String, at time: Int) async throws {
            let order = ReplayOrder(
                id: id, DeadFilter(Reach(tenant: tenant, folder: "")), until: 1, rate: nil, by: "k",
                startedAt: time, expected: 0)
            var fields = try #require(
                JSONSerialization.jsonObject(with: JSONEncoder().encode(order)) as? [String: Any])
            fields["state"] = "done"
            let ended = try JSONDecoder().decode(
                ReplayOrder.self, from: JSONSerialization.data(withJSONObject: fields))
            try await rig.parts.replays.add(ended, by: tenant)
        }
        try await add("globex-1", "globex", at: 1)
        for number in 0..<ReplayOrder.ofTenantMax + 2 {
            try await add("acme-\(number)", "acme", at: 2 + number)
        }
        let left = try await rig.parts.replays.list()
        #expect(left.filter { $0.reach?.tenant == "acme" }.count == ReplayOrder.ofTenantMax)
        #expect(left.contains { $0.id == "globex-1" } && !left.contains { $0.id == "acme-0" })
    }

    @Test func `an order with a failure code of a later release is left to its gateways`()
        async throws
    {
        let (rig, _) = try await rigWithDead(3)
        func order(_ id: String, code: String, startedAt: Int) throws -> ReplayOrder {
            let order = ReplayOrder(
                id: id, DeadFilter(.everything), until: Int.max >> 11, rate: nil, by: "k",
                startedAt: startedAt, expected: 3)
            var fields = try #require(
                JSONSerialization.jsonObject(with: JSONEncoder().encode(order)) as? [String: Any])
            fields["codes"] = [code]
            return try JSONDecoder().decode(
                ReplayOrder.self, from: JSONSerialization.data(withJSONObject: fields))
        }
        let replays = rig.parts.replays
        try await replays.add(try order("later", code: "brandNewCode", startedAt: 1), by: nil)
        try await replays.add(try order("known", code: "outOfMemory", startedAt: 2), by: nil)
        // The oldest comes first.
        try await eventually("the known one is done") {
            try await replays.find("known")?.state == .done ? true : nil
        }
        #expect(try await rig.queue.status()[.dead] == 3)
        #expect(try await replays.find("later") == nil)
        // One that no release can read is not taken for a later one.
        let key = RedisArgument(rig.queue.name.gatewayKeys.replays)
        _ = try await rig.redis.send(["HSET", key, "torn", #"{"id":"torn","sta"#])
        try await eventually("the damaged one is removed") {
            try await rig.redis.send(["HGET", key, "torn"]).bytes == nil ? true : nil
        }
        #expect(try await rig.redis.send(["HGET", key, "later"]).bytes != nil)
    }

    @Test func `an order that was damaged by hand fails, says why, and holds up no other`()
        async throws
    {
        let (rig, _) = try await rigWithDead(3)
        func order(_ id: String) -> ReplayOrder {
            ReplayOrder(
                id: id, DeadFilter(.everything), until: Int.max >> 11, rate: nil, by: "k",
                startedAt: 1,
                expected: 3)
        }
        var fields = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(order("z-damaged")))
                as? [String: Any])
        fields["withEdit"] = "no json"
        let damaged = try JSONDecoder().decode(
            ReplayOrder.self, from: JSONSerialization.data(withJSONObject: fields))
        try await rig.parts.replays.add(damaged, by: nil)
        try await eventually("the damaged one has failed") {
            try await rig.parts.replays.find("z-damaged")?.state == .failed ? true : nil
        }
        let reason = try #require(try await rig.parts.replays.find("z-damaged")?.message)
        #expect(!reason.isEmpty)
        try await rig.parts.replays.add(order("sound"), by: nil)
        try await eventually("the sound one is done") {
            try await rig.parts.replays.find("sound")?.state == .done ? true : nil
        }
        #expect(try await rig.parts.replays.find("sound")?.replayed == 3)
    }

    @Test(arguments: [
        (#"{"codes":["nothing"]}"#, 422, "invalidValue"), (#"{"rate":0}"#, 400, "badBody"),
        (#"{"other":1}"#, 400, "badBody"), (#"[]"#, 400, "badBody"),
        (#"{"withEdit":{"filters":[{"name":"CINone"}]}}"#, 422, "unknownFilter"),
        (#"{"withEdit":{"mode":"copyEdit","from":"zebra/a.jpg"}}"#, 404, "notFound"),
        (#"{"tenant":"zebra"}"#, 404, "notFound"),
    ])
    func `a replay that makes no sense is refused`(
        _ body: String, _ status: Int, _ code: String
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.operate])
        let answer = try await rig.send("POST", "/v1/replays", key: key, json: body)
        #expect(answer.status == status && answer.code == code, "\(answer.text)")
    }
}
