import AccessKeys
import Foundation
import JobQueue
import MinilabTesting
import Operations
import Testing

@testable import Gateway

@Suite("the page of now") struct NowPageTests {
    @Test func `it says how much of the work each tenant had and is due`() async throws {
        let rig = try await GatewayRig()
        for tenant in ["acme", "zebra"] {
            let key = try await rig.key(tenant, scopes: [.enqueue])
            for number in 0..<6 {
                try await rig.post("o\(number)", "\(tenant)/\(number).jpg", key: key)
            }
        }
        _ = try await rig.queue.admit()
        let browser = try await Browser(rig, key: try await rig.key(scopes: [.operate]))
        // There is nothing to compare the first look with.
        let first = try await browser.get("/").body
        #expect(first.contains("6 ready") && !first.contains("of the work"))
        try await rig.complete(4)
        await rig.parts.views.snapshots.invalidate()
        let second = try await browser.get("/").body
        #expect(
            second.matches(of: /had [0-9]+ % of the work, is due 50 %/).count == 2, "\(second)")
    }
}
