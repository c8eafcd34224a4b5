import AccessKeys
import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Gateway

@Suite("signing in with an identity provider") struct ProviderSignInTests {
    @Test
    func `a person signs in, lands on the page that was wanted, and acts with the role's key`()
        async throws
    {
        let place = try await ProviderRig()
        let person = place.person()
        let page = try await person.get("/signin?next=/limits")
        #expect(page.text.contains("Sign in with Example &amp; Co"))
        #expect(page.text.contains("href=\"/signin/oidc?next=%2Flimits\""))
        let answer = try await person.signIn(next: "/limits")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(
            answer.text.contains("<meta http-equiv=\"refresh\" content=\"0; url=/limits\">"))
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(person.cookieNames == ["__Host-minilab", "__Host-minilab-signin"])
        // Another site's way brings no session along; our own page's does.
        #expect(try await person.get("/limits", from: "cross-site").status == 303)
        let limits = try await person.get("/limits")
        #expect(limits.status == 200 && limits.text.contains("ada@example.com"))
        #expect(place.provider.asked("discovery") == 1 && place.provider.asked("keys") == 1)
    }

    @Test func `the audit names the person beside the key`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        _ = try await person.signIn()
        let token = SessionStore.formToken(of: try #require(person.cookie("__Host-minilab")))
        let paused = try await person.send(
            "POST", "/limits", "csrf=\(token)&action=pause&reason=stocktaking")
        try #require(paused.status == 303, "\(paused.text)")
        let entry = try #require(
            try await place.rig.parts.audit.page(of: nil, before: nil, count: 1).first)
        #expect(entry.action == "pause" && entry.key == place.operators)
        #expect(entry.person == "ada@example.com")
        let page = try await person.get("/audit?who=ada@example.com")
        #expect(page.text.contains("ada@example.com (Photo ops)"))
    }

    @Test func `an address that the provider did not verify does not stand for the person`()
        async throws
    {
        let place = try await ProviderRig()
        place.provider.behave {
            $0.claims = ["email": .string("boss@example.com"), "email_verified": .bool(false)]
        }
        let person = place.person()
        _ = try await person.signIn()
        #expect(
            try await person.get("/").text.contains("248289761001 (boss@example.com)"))
    }

    @Test func `the first role in the setting counts, whatever the order of the groups`()
        async throws
    {
        let place = try await ProviderRig(roles: ["lab", "photo-ops"])
        place.provider.behave {
            $0.claims = ["groups": .array([.string("photo-ops"), .string("lab")])]
        }
        let person = place.person()
        #expect(try await person.signIn().text.contains("url=/batches"))
        #expect(try await person.get("/limits").status == 403)
        #expect(try await person.isSignedIn())
    }

    @Test func `a claim of another name and of one text is taken`() async throws {
        let place = try await ProviderRig(claim: "role")
        place.provider.behave { $0.claims = ["role": .string("photo-ops"), "groups": .null] }
        let person = place.person()
        #expect(try await person.signIn().status == 200)
        #expect(try await person.isSignedIn())
    }

    @Test func `who has no role is told what the claim says and what is to be done`() async throws {
        let place = try await ProviderRig()
        place.provider.behave {
            $0.claims = ["groups": .array([.string("visitors<b>"), .string("photo-op")])]
        }
        let person = place.person()
        let answer = try await person.signIn()
        #expect(answer.status == 403 && answer.text.contains("noRole"))
        #expect(answer.text.contains("visitors&lt;b&gt;") && answer.text.contains("photo-op"))
        #expect(answer.text.contains("groups") && answer.text.contains("--oidc-role"))
        #expect(person.cookie("__Host-minilab") == nil)
        place.provider.behave { $0.claims = ["groups": .null] }
        let none = try await place.person().signIn()
        #expect(none.status == 403 && none.text.contains("has no claim groups"))
    }

    @Test func `a session ends with the role's key, and nobody gets another one`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        _ = try await person.signIn()
        #expect(try await person.isSignedIn())
        try await place.rig.parts.keyStore.revoke(place.operators)
        try await eventually("the revocation is heard") {
            try await person.isSignedIn() ? nil : true
        }
        let again = try await place.person().signIn()
        #expect(again.status == 403 && again.text.contains("noRole"))
        #expect(again.text.contains(place.operators) && again.text.contains("revoked"))
    }

    @Test func `a sign-in that one gateway began is finished by another, for both`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        let back = try await person.visitProvider(next: "/limits")
        person.gateway = try await place.another()
        let answer = try await person.get(back, from: "cross-site")
        #expect(answer.status == 200 && answer.text.contains("url=/limits"))
        #expect(try await person.isSignedIn())
        person.gateway = place.rig
        #expect(try await person.isSignedIn())
    }

    @Test func `one signs out, and the key's own sign-in stays`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        _ = try await person.signIn()
        let token = SessionStore.formToken(of: try #require(person.cookie("__Host-minilab")))
        #expect(try await person.send("POST", "/signout", "csrf=\(token)").status == 303)
        #expect(try await !person.isSignedIn())
        let key = try await place.rig.key(scopes: [.read])
        #expect(try await person.send("POST", "/signin", "key=\(key)").status == 303)
        #expect(try await person.isSignedIn())
    }

    @Test(arguments: ["https://evil.example/", "//evil.example", "/signin/oidc?next=/"])
    func `signing in leads to no other site, and to no second sign-in`(_ next: String) async throws
    {
        let place = try await ProviderRig()
        #expect(try await place.person().signIn(next: next).text.contains("url=/\">"))
    }

    @Test(arguments: TokenMaker.Signing.allCases.filter { $0 != .none && $0 != .hs256 })
    func `tokens of each good algorithm are taken`(_ signing: TokenMaker.Signing) async throws {
        let place = try await ProviderRig()
        place.provider.behave { $0.signing = signing }
        let answer = try await place.person().signIn()
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test func `a secret goes into the form for a provider that takes it only there`() async throws
    {
        let place = try await ProviderRig()
        place.provider.behave { $0.requiresSecretInForm = true }
        #expect(try await place.person().signIn().status == 200)
    }

    @Test func `without a provider its pages are not there, and no button leads to it`()
        async throws
    {
        let rig = try await GatewayRig()
        let headers = ["Host": "localhost:\(rig.port)"]
        for path in ["/signin/oidc", "/signin/oidc/callback?state=x&code=y"] {
            let answer = try await rig.send("GET", path, headers: headers)
            #expect(answer.status == 404 && answer.text.contains("notFound"), "\(path)")
        }
        #expect(
            try await !rig.send("GET", "/signin", headers: headers).text.contains("/signin/oidc"))
    }
}
