import AccessKeys
import Foundation
import HTTPTypes
import MinilabTesting
import Testing

@testable import Gateway

/// Every route with every kind of caller. A route that is new is in the table by itself, since the table is what is served.
@Suite("who may call what") struct AuthorizationTests {
    @Test
    func
        `each route is refused without a key, with a foreign, expired or revoked one, and without its scope`()
        async throws
    {
        let rig = try await GatewayRig()
        let all = Set(Scope.allCases)
        let revoked = try await rig.key(scopes: all)
        let id = String(revoked.split(separator: "_")[1])
        try await rig.parts.keyStore.revoke(id)
        let stranger = try await GatewayRig().key(scopes: all)
        var byScope: [Scope: String] = [:]
        for scope in all { byScope[scope] = try await rig.key(scopes: [scope]) }
        let tenant = try await rig.key("acme", scopes: all)

        for route in RouteTable.routes {
            // Pages have visitors, not callers: PageAuthorizationTests.
            guard !route.access.isPage, let scope = route.access.scope else { continue }
            let method = route.method.rawValue
            let path = route.examplePath
            let called = "\(route.method) \(route.path)"
            /// The answer to HEAD is the status alone.
            func isRefused(_ code: String, _ status: Int = 401, key: String?) async throws -> Bool {
                let answer = try await rig.send(method, path, key: key)
                return answer.status == status
                    && (route.method == .head ? answer.text.isEmpty : answer.code == code)
            }
            #expect(try await isRefused("missingKey", key: nil), "\(called)")
            #expect(try await isRefused("malformedKey", key: "mlk_x"), "\(called)")
            #expect(try await isRefused("unknownKey", key: stranger), "\(called)")
            #expect(try await isRefused("revokedKey", key: revoked), "\(called)")
            for other in all where other != scope {
                #expect(
                    try await isRefused("scopeMissing", 403, key: byScope[other]),
                    "\(called) with \(other)")
            }
            let allowed = try await rig.send(method, path, key: byScope[scope])
            #expect(![401, 403].contains(allowed.status), "\(called): \(allowed.text)")
            #expect(allowed.status < 500, "\(called): \(allowed.text)")
            let asTenant = try await rig.send(method, path, key: tenant)
            if case .operatorKey = route.access {
                #expect(asTenant.code == "tenantKey", "\(called)")
            } else {
                #expect(![401, 403].contains(asTenant.status), "\(called): \(asTenant.text)")
            }
        }
    }

    @Test func `what is not listed is not served, and says so`() async throws {
        let rig = try await GatewayRig()
        let nothing = try await rig.send("GET", "/v1/nothing")
        #expect(nothing.status == 404 && nothing.code == "unknownPath")
        let wrong = try await rig.send("DELETE", "/v1/queue")
        #expect(wrong.status == 405 && wrong.code == "methodNotAllowed")
        #expect(wrong.header("Allow") == "GET, HEAD")
    }

    @Test func `what can be got can be looked at without its body`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: Set(Scope.allCases))
        for route in RouteTable.routes where route.method == .get && !route.access.isPage {
            let path = route.examplePath
            let head = try await rig.send("HEAD", path, key: key)
            // A stream of events goes on until its reader ends it.
            let get = try await rig.send("GET", path, key: key)
            #expect(head.status == get.status && head.text.isEmpty, "\(route.path)")
            #expect(head.header("Content-Type") == get.header("Content-Type"), "\(route.path)")
        }
        #expect(try await rig.send("HEAD", "/v1/queue").status == 401)
        #expect(
            try await rig.send(
                "HEAD", "/v1/events", key: key, headers: ["Accept": "text/event-stream"]
            ).status == 200)
        try await eventually("no stream is open") {
            rig.parts.permits.streams.count == 0 ? () : nil
        }
    }

    @Test func `a key is answered within its rate, and told when to ask again`() async throws {
        let rig = try await GatewayRig()
        var quotas = KeyQuotas()
        quotas.requestsPerSecond = 1
        quotas.requestBurst = 2
        let key = try await rig.key(scopes: [.operate], quotas: quotas)
        var answers: [GatewayRig.Answer] = []
        for _ in 0..<4 { answers.append(try await rig.send("GET", "/v1/workers", key: key)) }
        #expect(answers[0].status == 200)
        #expect(answers[0].header("RateLimit") != nil)
        let refused = try #require(answers.first { $0.status == 429 })
        #expect(refused.code == "tooManyRequests" && refused.header("Retry-After") == "1")
    }
}
