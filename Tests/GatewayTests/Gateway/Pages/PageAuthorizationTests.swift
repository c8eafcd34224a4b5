import AccessKeys
import HTTPTypes
import Testing

@testable import Gateway

/// Every page with every kind of visitor. A page that is new is in the table by itself, since the table is what is served.
@Suite("who may see which page") struct PageAuthorizationTests {
    private static let pages = RouteTable.routes.filter {
        $0.access.isPage && $0.access.scope != nil
    }

    @Test func `who is signed out is led to the sign-in, and a form of theirs does nothing`()
        async throws
    {
        let rig = try await GatewayRig()
        let revoked = try await rig.key(scopes: Set(Scope.allCases))
        let ended = try await Browser(rig, key: revoked)
        try await rig.parts.keyStore.revoke(String(revoked.split(separator: "_")[1]))
        let stranger = try await Browser(
            rig, key: GatewayRig().key(scopes: Set(Scope.allCases)))
        for browser in [try await Browser(rig), ended, stranger] {
            for page in Self.pages {
                let called = "\(page.method) \(page.path)"
                let answer = try await browser.send(page.method.rawValue, page.examplePath)
                if page.method == .get {
                    #expect(answer.status == 303 && answer.leads(to: "/signin"), "\(called)")
                } else {
                    #expect(answer.status == 401 && answer.isHTML, "\(called): \(answer.head)")
                }
            }
        }
    }

    @Test func `a page is for who has its scope, and the whole queue's for operators`() async throws
    {
        let rig = try await GatewayRig()
        let all = Set(Scope.allCases)
        var byScope: [Scope: Browser] = [:]
        for scope in all {
            byScope[scope] = try await Browser(rig, key: rig.key(scopes: [scope]))
        }
        let tenant = try await Browser(rig, key: rig.key("acme", scopes: all))
        for page in Self.pages {
            let scope = try #require(page.access.scope)
            let called = "\(page.method) \(page.path)"
            let (method, path) = (page.method.rawValue, page.examplePath)
            for other in all where other != scope {
                let answer = try await #require(byScope[other]).send(method, path)
                #expect(answer.status == 403 && answer.isHTML, "\(called) with \(other)")
                #expect(answer.body.contains("scopeMissing"), "\(called) with \(other)")
            }
            let allowed = try await #require(byScope[scope]).send(method, path)
            #expect(
                ![401, 403].contains(allowed.status) && (200..<500).contains(allowed.status),
                "\(called): \(allowed.status) \(allowed.body)")
            #expect(!allowed.leads(to: "/signin"), "\(called)")
            let asTenant = try await tenant.send(method, path)
            if page.access.isForOperators {
                #expect(asTenant.status == 403 && asTenant.isHTML, "\(called)")
                #expect(asTenant.body.contains("tenantKey"), "\(called)")
            } else {
                #expect(
                    ![401, 403].contains(asTenant.status) && (200..<500).contains(asTenant.status),
                    "\(called): \(asTenant.status) \(asTenant.body)")
            }
        }
    }

    @Test func `no form of another site, of another session or under another name does anything`()
        async throws
    {
        let rig = try await GatewayRig()
        let browser = try await Browser(rig, key: rig.key(scopes: Set(Scope.allCases)))
        for page in Self.pages {
            let called = "\(page.method) \(page.path)"
            let (method, path) = (page.method.rawValue, page.examplePath)
            let rebound = try await browser.send(method, path, host: "evil.example:\(rig.port)")
            #expect(rebound.status == 403 && rebound.isHTML, "\(called)")
            guard page.method == .post else { continue }
            for site in ["cross-site", "same-site", "none"] {
                let foreign = try await browser.send(method, path, site: site)
                #expect(foreign.status == 403 && foreign.isHTML, "\(called) from \(site)")
            }
            let made = try await browser.send(method, path, csrf: "0123456789abcdef")
            #expect(made.status == 403 && made.isHTML, "\(called): \(made.status)")
        }
    }
}
