import AccessKeys
import Foundation
import JobQueue
import MinilabTesting
import Testing

@testable import Gateway

@Suite("the page of a batch") struct BatchPageTests {
    @Test func `it shows what was rendered last, each asset once, and nothing of other jobs`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send(
            "POST", "/v1/batches", key: key,
            json: #"{"id":"spring","edit":{"filters":[{"name":"CISepiaTone"}]}}"#)
        let browser = try await Browser(rig, key: key)
        #expect(try await !browser.get("/batches/acme.spring").body.contains("Rendered last"))
        let lines = (0..<14).map { #"{"asset":"acme/\#($0).jpg"}"# }.joined(separator: "\n")
        _ = try await rig.send(
            "PUT", "/v1/batches/spring/members?from=0", key: key, body: lines)
        try await rig.post("single", "acme/single.jpg", key: key)
        try await rig.complete(15)
        let page = try await browser.get("/batches/acme.spring").body
        #expect(page.contains("Rendered last"))
        let pictures = page.matches(of: /\/ui\/pictures\/acme\/([^?]+)\?version=1-/).map {
            String($0.1)
        }
        #expect(
            pictures.count == 12 && Set(pictures).count == 12 && !pictures.contains("single.jpg"))
    }

    @Test func `a form whose wish is refused says so, and not that it was done`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let browser = try await Browser(rig, key: key)
        _ = try await rig.send(
            "POST", "/v1/batches", key: key, json: #"{"id":"b","edit":\#(GatewayRig.sepia)}"#)
        #expect(try await browser.post("/batches/b/cancel").status == 303)
        #expect(try await browser.post("/batches/b/cancel").status == 409)
        let small = try await rig.key(
            "acme", scopes: [.enqueue, .read], quotas: KeyQuotas(backlogMax: 1))
        let full = try await Browser(rig, key: small)
        #expect(try await full.post("/assets/acme/a.jpg", ["action": "undo"]).status == 303)
        #expect(try await full.post("/assets/acme/b.jpg", ["action": "undo"]).status == 429)
    }
}
