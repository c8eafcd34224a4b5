import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import NIOCore
import Operations
import Testing

@testable import Gateway

@Suite("Turns at reading many entries") struct ReadingTurnsTests {
    /// Takes all turns until `body` has returned.
    private func whileAllAreTaken<Result: Sendable>(
        _ parts: CallParts, _ count: Int? = nil, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let places = count ?? max(1, System.coreCount / 2)
        if places == 0 { return try await body() }
        return try await parts.permits.readings.withTurn(of: .operator) {
            try await whileAllAreTaken(parts, places - 1, body)
        }
    }

    @Test(arguments: [
        "/v1/batches", "/v1/dead", "/v1/dead/groups", "/v1/events?after=0", "/v1/replays",
        "/v1/webhooks", "/batches",
        "/dead?list=1", "/webhooks", "/batches/b",
    ])
    func `a call that reads many entries waits for its turn, and no other call does`(
        path: String
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read, .operate])
        try await rig.kill([("o1", "acme/1.jpg")], key: key)
        // A batch of which a job is done, whose page shows its pictures.
        _ = try await rig.send(
            "POST", "/v1/batches", key: key, json: #"{"id":"b","edit":\#(GatewayRig.sepia)}"#)
        _ = try await rig.send(
            "PUT", "/v1/batches/b/members?from=0", key: key,
            body: #"{"asset":"acme/2.jpg"}"# + "\n")
        try await rig.complete(1)
        if path == "/v1/replays" { try await add([10], of: rig) }
        let browser = try await Browser(rig, key: key)
        let call = try await whileAllAreTaken(rig.parts) {
            let call = Task {
                guard path.hasPrefix("/v1/") else { return try await browser.get(path).status }
                return try await rig.send("GET", path, key: key).status
            }
            try await eventually("it waits") {
                rig.parts.permits.readings.waitingCount == 1 ? true : nil
            }
            // One object is read at once.
            #expect(try await rig.send("GET", "/v1/jobs/o1", key: key).status == 200)
            return call
        }
        #expect(try await call.value == 200)
        #expect(rig.parts.permits.readings.waitingCount == 0)
    }

    /// Adds replays of acme that nobody carries out any more, each with a message of so many bytes.
    private func add(_ bytes: [Int], of rig: GatewayRig) async throws {
        for (number, count) in bytes.enumerated() {
            let order = ReplayOrder(
                id: "r\(number)", DeadFilter(Reach(tenant: "acme", folder: "")), until: 1,
                rate: nil,
                by: "k", startedAt: number, expected: 0)
            var fields = try #require(
                JSONSerialization.jsonObject(with: JSONEncoder().encode(order)) as? [String: Any])
            fields["state"] = "failed"
            fields["message"] = String(repeating: "x", count: count)
            let failed = try JSONDecoder().decode(
                ReplayOrder.self, from: JSONSerialization.data(withJSONObject: fields))
            try await rig.parts.replays.add(failed, by: "acme")
        }
    }

    @Test func `a list of replays takes a turn for each 64 KB, and has all of them`() async throws {
        let rig = try await GatewayRig()
        try await add([60_000, 60_000, 60_000, 10, 10], of: rig)
        var turns = 0
        let orders = try await rig.parts.replays.list { decode in
            turns += 1
            return decode()
        }
        #expect(orders.map(\.id) == ["r4", "r3", "r2", "r1", "r0"])
        #expect(turns == 3)
    }

    @Test(arguments: ["/v1/history/acme/a.jpg", "/assets/acme/a.jpg"])
    func `a call that reads all versions of an asset waits for those of its tenant alone`(
        path: String
    ) async throws {
        let rig = try await GatewayRig()
        for tenant in ["acme", "globex"] {
            let folder = rig.folder.path + "/library/originals/" + tenant
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try Data("original".utf8).write(to: URL(filePath: folder + "/a.jpg"))
        }
        let key = try await rig.key("acme", scopes: [.read])
        let other = try await rig.key("globex", scopes: [.read])
        let browser = try await Browser(rig, key: key)
        let walks = rig.parts.permits.walks
        let owner = try await rig.parts.keys.authenticate(key).owner
        let places = max(1, System.coreCount / 2)
        for _ in 0..<places { try await walks.enter(owner) }
        let call = Task {
            guard path.hasPrefix("/v1/") else { return try await browser.get(path).status }
            return try await rig.send("GET", path, key: key).status
        }
        try await eventually("it waits") { walks.waitingCount == 1 ? true : nil }
        #expect(try await rig.send("GET", "/v1/originals/acme/a.jpg", key: key).status == 200)
        #expect(try await rig.send("GET", "/v1/history/globex/a.jpg", key: other).status == 200)
        for _ in 0..<places { walks.leave(owner) }
        #expect(try await call.value == 200)
    }

    @Test
    func
        `an original that is there is compared in its tenant's turn, and only if it may be the same`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        @Sendable func put(_ text: String) async throws -> Int {
            let digest = ContentDigest.field(SHA256.hash(data: text.utf8).hex)
            return try await rig.send(
                "PUT", "/v1/originals/acme/a.jpg", key: key, body: text,
                headers: ["Content-Digest": digest]
            ).status
        }
        #expect(try await put("original") == 201)
        let walks = rig.parts.permits.walks
        let owner = try await rig.parts.keys.authenticate(key).owner
        let places = max(1, System.coreCount / 2)
        for _ in 0..<places { try await walks.enter(owner) }
        // Of another length, it is another one.
        #expect(try await put("another original") == 412)
        let again = Task { try await put("original") }
        try await eventually("it waits") { walks.waitingCount == 1 ? true : nil }
        for _ in 0..<places { walks.leave(owner) }
        #expect(try await again.value == 200)
    }
}
