import AccessKeys
import MinilabTesting
import Testing

@testable import Gateway

@Suite("webhooks as pages") struct WebhookPagesTests {
    @Test func `an endpoint is made, tried, disabled, enabled, given a new secret and deleted`()
        async throws
    {
        let rig = try await WebhookRoutesTests.rig()
        let receiver = try await Receiver.start()
        let browser = try await Browser(rig, key: rig.key("acme", scopes: [.enqueue]))
        let url = receiver.url.replacing(":", with: "%3A").replacing("/", with: "%2F")
        let made = try await browser.post("/webhooks", ["url": url, "type": "job.cancelled"])
        #expect(made.status == 200 && made.body.contains("whsec_"), "\(made.head)")
        let list = try await browser.get("/webhooks")
        #expect(list.status == 200 && !list.body.contains("whsec_"))
        let id = try #require(list.body.firstMatch(of: /href="\/webhooks\/([0-9a-z]{16})"/)).1
        let path = "/webhooks/\(id)"

        let tested = try await browser.post("\(path)/test")
        #expect(tested.status == 303 && tested.leads(to: "\(path)?done=tested"))
        #expect(receiver.messages.count == 1)
        try await WebhookRoutesTests.cancel("acme.1", rig)
        let action = try await eventually("the delivery is on the page") {
            try await browser.get(path).body.firstMatch(
                of: /action="([^"]+\/replay)"[^~]{1,300}job\.cancelled/
            )?.1
        }
        let again = try await browser.post(String(action))
        #expect(again.status == 303 && again.leads(to: "\(path)?done=sentagain"), "\(again.head)")
        #expect(receiver.messages.last?.body.contains("acme.1") ?? false)

        #expect(try await browser.post("\(path)/disable").status == 303)
        #expect(try await browser.get(path).body.contains("A user disabled it"))
        #expect(try await browser.post("\(path)/enable").status == 303)
        #expect(try await !browser.get(path).body.contains("A user disabled it"))
        let rotated = try await browser.post("\(path)/rotate")
        #expect(rotated.status == 200 && rotated.body.contains("whsec_"))
        #expect(try await !browser.get(path).body.contains("whsec_"))

        let stranger = try await Browser(rig, key: rig.key("zebra", scopes: [.enqueue]))
        #expect(try await stranger.get(path).status == 404)
        #expect(try await stranger.post("\(path)/delete").status == 404)
        #expect(try await !stranger.get("/webhooks").body.contains(id))
        #expect(try await browser.post("\(path)/delete").status == 303)
        #expect(try await browser.get(path).status == 404)
    }

    @Test func `what cannot be made is said in the form, as it was filled`() async throws {
        let rig = try await GatewayRig()
        let browser = try await Browser(rig, key: rig.key(scopes: [.enqueue]))
        let refused = try await browser.post(
            "/webhooks", ["url": "https%3A%2F%2F10.0.0.1%2F", "type": "job.failed"])
        #expect(refused.status == 422 && refused.body.contains("not of the Internet"))
        #expect(refused.body.contains(#"value="https:"#))
        let empty = try await browser.post("/webhooks", ["url": "https%3A%2F%2F192.0.2.1%2F"])
        #expect(empty.status == 422 && empty.body.contains("at least one kind of event"))
    }
}
