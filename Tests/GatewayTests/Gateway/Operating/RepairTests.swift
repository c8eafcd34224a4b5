import AccessKeys
import Foundation
import JobQueue
import MinilabTesting
import Redis
import Testing

@testable import Gateway

@Suite("repairs over HTTP") struct RepairTests {
    /// A queue with a job among the done ones that has no record.
    private func harmedRig() async throws -> (GatewayRig, key: String) {
        let rig = try await GatewayRig(on: try await RedisServer.start())
        let done = "minilab:{\(rig.queue.name)}:done"
        _ = try await rig.redis.send(["RPUSH", RedisArgument(done), "ghost"])
        return (rig, try await rig.key(scopes: [.admin]))
    }

    @Test func `what can be mended is mended`() async throws {
        let (rig, key) = try await harmedRig()
        _ = try await rig.redis.send(["ACL", "SETUSER", "gateway", "+lrem"])
        let examination = try await rig.send("GET", "/v1/doctor", key: key)
        #expect(
            examination.status == 200 && examination.text.contains("ghost"), "\(examination.text)")
        let repair = try await rig.send("POST", "/v1/doctor", key: key)
        #expect(repair.status == 200 && repair.text.contains("ghost"), "\(repair.text)")
        #expect(try await !rig.send("GET", "/v1/doctor", key: key).text.contains("ghost"))
    }

    @Test func `a gateway whose user of Redis may not mend says who can, and shows what is found`()
        async throws
    {
        // ops/redis-users.conf gives a gateway no LREM.
        let (rig, key) = try await harmedRig()
        let repair = try await rig.send("POST", "/v1/doctor", key: key)
        #expect(repair.status == 403 && repair.code == "notPermitted", "\(repair.text)")
        #expect(repair.text.contains("minilab doctor --repair"))
        let page = try await Browser(rig, key: key).post("/doctor")
        #expect(page.status == 403 && page.body.contains("minilab doctor --repair"))
        #expect(try await rig.send("GET", "/v1/doctor", key: key).text.contains("ghost"))
    }
}
