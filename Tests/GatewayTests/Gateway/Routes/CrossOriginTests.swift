import AccessKeys
import Foundation
import Testing

@testable import Gateway

@Suite("calls by pages of other origins") struct CrossOriginTests {
    private static let origin = "https://photos.example"

    @Test func `a page of an origin that the key names may call; others may not`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.parts.keyStore.create(
            KeyTerms(
                tenant: nil, assetPrefix: .all, scopes: [.operate], corsOrigins: [Self.origin])
        ).text.revealed
        let preflight = try await rig.send(
            "OPTIONS", "/v1/queue",
            headers: [
                "Origin": Self.origin, "Access-Control-Request-Method": "GET",
                "Access-Control-Request-Headers": "authorization",
            ])
        #expect(preflight.status == 204)
        #expect(preflight.header("Access-Control-Allow-Origin") == Self.origin)
        #expect(preflight.header("Access-Control-Allow-Credentials") == nil)
        let own = try await rig.send(
            "GET", "/v1/queue", key: key, headers: ["Origin": Self.origin])
        #expect(own.status == 200 && own.header("Access-Control-Allow-Origin") == Self.origin)
        let other = try await rig.send(
            "GET", "/v1/queue", key: key, headers: ["Origin": "https://evil.example"])
        #expect(other.status == 403 && other.code == "foreignOrigin")
        #expect(other.header("Access-Control-Allow-Origin") == nil)
    }

    @Test func `a page reads why its call was refused, and may ask for a part if it is the same`()
        async throws
    {
        let rig = try await GatewayRig()
        let origin = ["Origin": Self.origin]
        let gone = try await rig.send("GET", "/v1/queue", key: "mlk_nobody", headers: origin)
        #expect(gone.status == 401)
        #expect(gone.header("Access-Control-Allow-Origin") == Self.origin)
        #expect(gone.header("Access-Control-Allow-Credentials") == nil)
        let unsaid = try await rig.send("GET", "/v1/queue", headers: origin)
        #expect(unsaid.status == 401)
        #expect(unsaid.header("Access-Control-Allow-Origin") == Self.origin)
        for (method, path, status) in [("GET", "/v1/nothing", 404), ("DELETE", "/v1/queue", 405)] {
            let none = try await rig.send(method, path, headers: origin)
            #expect(none.status == status)
            #expect(none.header("Access-Control-Allow-Origin") == Self.origin, "\(path)")
        }
        let preflight = try await rig.send(
            "OPTIONS", "/v1/queue",
            headers: ["Origin": Self.origin, "Access-Control-Request-Method": "GET"])
        #expect(preflight.header("Access-Control-Allow-Headers")?.contains("If-Range") == true)
    }

    @Test func `pages answer no other origin`() async throws {
        let rig = try await GatewayRig()
        let answer = try await rig.send(
            "OPTIONS", "/batches",
            headers: ["Origin": Self.origin, "Access-Control-Request-Method": "GET"])
        #expect(answer.status == 405)
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
    }
}
