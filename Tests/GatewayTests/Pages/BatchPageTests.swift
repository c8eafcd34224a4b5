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
}
