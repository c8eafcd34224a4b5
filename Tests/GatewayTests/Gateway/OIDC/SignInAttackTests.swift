import AccessKeys
import Edits
import Foundation
import JobQueue
import Logging
import MinilabTesting
@testable import Gateway
import Redis
import Testing

/// Answers and requests that must sign nobody in.
@Suite("sign-ins that are refused") struct SignInAttackTests {
    /// One way in which a token is wrong.
    struct BadToken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Words of the sentence.
        let says: String
        let spoil: @Sendable (inout TestProvider.Behaviour) -> Void

        init(
            _ name: String, _ says: String,
            _ spoil: @escaping @Sendable (inout TestProvider.Behaviour) -> Void
        ) {
            (testDescription, self.says, self.spoil) = (name, says, spoil)
        }
    }

    private static let now = Date.now.timeIntervalSince1970.rounded()

    static let badTokens: [BadToken] = [
        .init("another issuer", "another issuer") {
            $0.claims["iss"] = .string("https://evil.example")
        },
        .init("an issuer with a slash more", "another issuer") {
            $0.claims["iss"] = .string("http://127.0.0.1/realm/")
        },
        .init("no issuer", "another issuer") { $0.claims["iss"] = .null },
        .init("another client", "another client") { $0.claims["aud"] = .string("shop") },
        .init("no audience", "another client") { $0.claims["aud"] = .null },
        .init("an audience that is no list of texts", "another client") {
            $0.claims["aud"] = .array([.string("minilab"), .number(1)])
        },
        .init("several clients without azp", "several clients") {
            $0.claims["aud"] = .array([.string("shop"), .string("minilab")])
        },
        .init("several clients and another azp", "given to another client") {
            $0.claims["aud"] = .array([.string("shop"), .string("minilab")])
            $0.claims["azp"] = .string("shop")
        },
        .init("one client and another azp", "given to another client") {
            $0.claims["azp"] = .string("shop")
        },
        .init("another nonce", "nonce") { $0.claims["nonce"] = .string("n-0S6_WzA2Mj") },
        .init("no nonce", "nonce") { $0.claims["nonce"] = .null },
        .init("expired", "expired") {
            $0.claims["iat"] = .number(now - 400)
            $0.claims["exp"] = .number(now - 100)
        },
        .init("without an end", "when it ends") { $0.claims["exp"] = .null },
        .init("with an end that is a text", "when it ends") { $0.claims["exp"] = .string("never") },
        .init("without a beginning", "when it was made") { $0.claims["iat"] = .null },
        .init("from the future", "future") {
            $0.claims["iat"] = .number(now + 600)
            $0.claims["exp"] = .number(now + 900)
        },
        .init("not valid yet", "not valid yet") { $0.claims["nbf"] = .number(now + 600) },
        .init("nobody", "names no user") { $0.claims["sub"] = .null },
        .init("somebody with a line break", "names no user") { $0.claims["sub"] = .string("a\nb") },
        .init("alg none", "is signed by &quot;none&quot;") { $0.signing = .none },
        .init("HS256 by the public key", "is signed by &quot;HS256&quot;") { $0.signing = .hs256 },
        .init("a key for other uses", "does not list") { $0.keyName = "k1-enc" },
        .init("a shared key of the list", "does not list") {
            $0.signing = .rs256
            $0.keyName = "k1-none"
        },
        .init("a key of another kind", "for which its key is not") {
            $0.signing = .es256
            $0.keyName = "k1-rsa"
        },
        .init("another key of the list", "not signed by") {
            $0.signing = .ps256
            $0.keyName = "k1-rsa"
            $0.tamper = { $0.replacing(/\.[^.]+$/, with: "." + String(repeating: "A", count: 342)) }
        },
        .init("an unknown key", "does not list") { $0.keyName = "k9-rsa" },
        .init("an extension that has to be understood", "extensions") {
            $0.header["crit"] = .array([.string("exp")])
        },
        .init("changed claims", "not signed by") {
            $0.tamper = { token in
                var parts = token.split(separator: ".").map(String.init)
                let other = Data("{\"groups\":[\"photo-ops\"],\"sub\":\"root\"}".utf8)
                parts[1] = other.base64URL
                return parts.joined(separator: ".")
            }
        },
        .init("a signature cut off", "not signed by") {
            $0.tamper = { String($0.prefix(upTo: $0.lastIndex(of: ".")!)) + "." }
        },
        .init("no token at all", "no signed JSON Web Token") { $0.tamper = { _ in "token" } },
        .init("a token of five parts", "no signed JSON Web Token") { $0.tamper = { $0 + ".x.y" } },
        .init("a token of 100 KB", "more than 65536 bytes") {
            $0.claims["more"] = .string(String(repeating: "x", count: 100_000))
        },
        .init("claims nested deep", "no signed JSON Web Token") {
            $0.claims["deep"] = (0..<40).reduce(JSONValue.null) { value, _ in .array([value]) }
        },
        .init("an answer of another issuer", "of another issuer") {
            $0.answersAs = "https://evil.example"
        },
    ]

    @Test(arguments: badTokens)
    func `an ID token that is wrong signs nobody in`(_ bad: BadToken) async throws {
        let place = try await ProviderRig()
        place.provider.behave(bad.spoil)
        let person = place.person()
        let answer = try await person.signIn()
        #expect(answer.status == 403, "\(answer.text)")
        #expect(
            answer.text.contains("signInRefused") && answer.text.contains(bad.says),
            "\(answer.text)")
        #expect(person.cookie("__Host-minilab") == nil)
        // The same person with a token that is right: it was that which was wrong.
        place.provider.behave { $0 = TestProvider.Behaviour() }
        #expect(try await person.signIn().status == 200)
    }

    @Test func `keys that the provider changed are asked for anew, once in a minute`() async throws
    {
        let place = try await ProviderRig()
        #expect(try await place.person().signIn().status == 200)
        place.provider.rotate(to: try TokenMaker("k2", isNew: true))
        #expect(try await place.person().signIn().status == 200)
        #expect(place.provider.asked("keys") == 2)
        place.provider.rotate(to: try TokenMaker("k3", isNew: true))
        for _ in 0..<3 { #expect(try await place.person().signIn().status == 403) }
        #expect(place.provider.asked("keys") == 2)
    }

    @Test(arguments: ["discovery", "keys", "token"])
    func `answers that are no usable JSON are outages, and pass`(_ path: String) async throws {
        let faults: [TestProvider.Fault] = [
            .html, .mislabelled, .huge, .redirect, .deep, .status(503),
        ]
        for fault in faults {
            let place = try await ProviderRig()
            place.provider.behave { $0.faults = [path: fault] }
            let person = place.person()
            let answer =
                path == "discovery"
                ? try await person.get("/signin/oidc") : try await person.signIn()
            #expect(answer.status == 503, "\(path) \(fault): \(answer.text)")
            #expect(answer.text.contains("providerUnavailable"), "\(path) \(fault)")
            #expect(answer.header("Retry-After") == "30", "\(path) \(fault)")
            #expect(place.provider.asked("elsewhere") == 0)
            place.provider.behave { $0.faults = [:] }
            #expect(try await person.signIn().status == 200, "\(path) \(fault)")
        }
    }

    @Test func `a document of another issuer is not believed`() async throws {
        let place = try await ProviderRig()
        place.provider.behave { $0.issuer = "https://evil.example" }
        let answer = try await place.person().get("/signin/oidc")
        #expect(answer.status == 503 && answer.text.contains("evil.example"))
    }

    @Test func `while the provider is away, sessions go on and keys open the pages`() async throws {
        let place = try await ProviderRig()
        let ada = place.person()
        _ = try await ada.signIn()
        await place.provider.stop()
        let stranger = place.person()
        let away = try await stranger.signInStatus()
        #expect(away == 503)
        #expect(try await ada.isSignedIn())
        let key = try await place.rig.key(scopes: [.read])
        #expect(try await stranger.send("POST", "/signin", "key=\(key)").status == 303)
        #expect(try await stranger.isSignedIn())
    }

    @Test func `an answer is taken once`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        let back = try await person.visitProvider()
        let other = place.person()
        other.copy("__Host-minilab-signin", from: person)
        #expect(try await person.get(back, from: "cross-site").status == 200)
        let again = try await other.get(back, from: "cross-site")
        #expect(again.status == 403 && again.text.contains("signInOver"))
        #expect(other.cookie("__Host-minilab") == nil)
        #expect(place.provider.asked("token") == 1)
    }

    @Test func `an answer for another browser is not taken, and not used up`() async throws {
        let place = try await ProviderRig()
        let attacker = place.person()
        let back = try await attacker.visitProvider()
        let victim = place.person()
        #expect(try await victim.get(back, from: "cross-site").status == 403)
        _ = try await victim.visitProvider()
        let pushed = try await attacker.visitProvider()
        let answer = try await victim.get(pushed, from: "cross-site")
        #expect(answer.status == 403 && answer.text.contains("signInOver"))
        #expect(victim.cookie("__Host-minilab") == nil)
        #expect(place.provider.asked("token") == 0)
        #expect(try await attacker.get(pushed, from: "cross-site").status == 200)
    }

    @Test func `answers that nobody asked for do nothing`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        _ = try await person.visitProvider()
        let made = String(repeating: "A", count: RandomText.length)
        for query in [
            "", "?code=x", "?state=&code=x", "?state=\(made)&code=x", "?state=a%0Ab&code=x",
            "?state=\(made)&error=access_denied",
        ] {
            let answer = try await person.get("/signin/oidc/callback" + query, from: "cross-site")
            #expect(answer.status == 403 && answer.text.contains("signInOver"), "\(query)")
        }
        #expect(place.provider.asked("token") == 0)
    }

    @Test func `a begun sign-in is read by its browser, for ten minutes, unaltered`() throws {
        let browser = RandomText.make()
        let begun = BegunSignIn(in: browser, next: "/dead?x=1", at: 1_000_000)
        func read(_ state: String, _ browser: String, at now: Int = 1_000_000) -> BegunSignIn? {
            BegunSignIn(state: state, in: browser, at: now)
        }
        #expect(read(begun.state, browser) == begun)
        #expect(read(begun.state, browser)?.next == "/dead?x=1")
        #expect(read(begun.state, browser, at: 1_000_000 + 600_000) == begun)
        #expect(read(begun.state, browser, at: 1_000_000 + 600_001) == nil)
        // It is no state of a clock that is far behind.
        #expect(read(begun.state, browser, at: 1_000_000 - 60_001) == nil)
        #expect(read(begun.state, RandomText.make()) == nil && read(begun.state, "") == nil)
        #expect(begun.state.utf8.count < 1000)
        for index in begun.state.indices {
            var state = begun.state
            state.replaceSubrange(index...index, with: begun.state[index] == "a" ? "b" : "a")
            #expect(read(state, browser) == nil, "\(state)")
        }
        for state in ["", "...", begun.state + ".a", String(repeating: "a.", count: 10_000)] {
            #expect(read(state, browser) == nil)
        }
        let other = BegunSignIn(in: browser, next: nil, at: 1_000_000)
        #expect(other.proof != begun.proof && other.state != begun.state && other.next == nil)
        #expect(begun.proof.verifier != begun.proof.nonce)
        // A path that no state carries.
        #expect(
            BegunSignIn(in: browser, next: String(repeating: "/", count: 501), at: 0).next == nil)
    }

    @Test func `a code that the provider refuses signs nobody in`() async throws {
        let place = try await ProviderRig()
        place.provider.behave { $0.refusesCodes = true }
        let answer = try await place.person().signIn()
        #expect(answer.status == 403 && answer.text.contains("does not take the code"))
    }

    @Test(
        arguments: [
            ("access_denied", 403, "access_denied"), ("invalid_scope", 403, "invalid_scope"),
            ("temporarily_unavailable", 503, "temporarily_unavailable"),
            ("<img src=x>", 403, "for a reason that it does not name"),
        ])
    func `what the provider answers instead of a code is said`(
        _ error: String, _ status: Int, _ says: String
    ) async throws {
        let place = try await ProviderRig()
        place.provider.behave { $0.error = error }
        let answer = try await place.person().signIn()
        #expect(answer.status == status && answer.text.contains(says), "\(answer.text)")
        #expect(!answer.text.contains("<img") && !answer.text.contains("<script>alert"))
    }

    @Test func `a flood of begun sign-ins ends nobody's and costs no memory`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        let back = try await person.visitProvider()
        let stranger = place.person()
        for _ in 0..<100 { #expect(try await stranger.get("/signin/oidc").status == 303) }
        let marks = try await place.rig.redis.send([
            "EXISTS", .init(place.rig.queue.name.gatewayKeys.signIns),
        ])
        #expect(marks.int == 0)
        #expect(try await person.get(back, from: "cross-site").status == 200)
    }

    @Test func `returns that wait for the provider hold up nobody who begins`() async throws {
        let place = try await ProviderRig()
        let signIn = try #require(place.rig.parts.signIn.provider)
        let person = place.person()
        let back = try await person.visitProvider()
        // Strangers hold what they may.
        for number in 0..<8 {
            let stranger = FairShare.Owner.address("\(number)")
            try await signIn.calls.enter(stranger)
        }
        #expect(try await place.person().get("/signin/oidc").status == 303)
        #expect(try await person.get(back, from: "cross-site").status == 200)
    }

    @Test func `as many returns of one address wait as there are connections`() async throws {
        let place = try await ProviderRig()
        let calls = try #require(place.rig.parts.signIn.provider).calls
        let most = place.rig.parts.limits.border.connectionsMax
        let proxy = FairShare.Owner.address("the proxy")
        let waiting = (0..<most).map { _ in Task { try await calls.enter(proxy) } }
        try await eventually("they wait or call") {
            calls.waitingCount > most - 100 ? true : nil
        }
        #expect(calls.refusedCount == 0)
        for task in waiting { task.cancel() }
    }

    @Test func `a browser that floods the address of a proxy holds up no other one there`()
        async throws
    {
        let place = try await ProviderRig()
        let calls = try #require(place.rig.parts.signIn.provider).calls
        let person = place.person()
        let back = try await person.visitProvider()
        // The address of this test's connections. It gets half of the places, and the others of the flood wait.
        let proxy = FairShare.Owner.address("127.0.0.1")
        let flood = (0..<132).map { _ in Task { try await calls.enter(proxy, as: "flood") } }
        try await eventually("it waits") { calls.waitingCount == 100 ? true : nil }
        let turns = Task {
            _ = try await eventually("the person waits, too") {
                calls.waitingCount == 101 ? true : nil
            }
            for _ in 0..<2 { calls.leave(proxy) }
        }
        #expect(try await person.get(back, from: "cross-site").status == 200)
        try await turns.value
        #expect(calls.waitingCount >= 98)
        for task in flood { task.cancel() }
    }

    @Test func `used sign-ins are bounded: one too many forgets the oldest`() async throws {
        let rig = try await GatewayRig()
        let used = UsedSignIns(redis: rig.redis, queue: rig.queue.name, marksMax: 3)
        let states = (0..<5).map { _ in RandomText.make() }
        for state in states { #expect(try await used.use(state)) }
        for state in states.suffix(3) { #expect(try await !used.use(state)) }
        let keys = rig.queue.name.gatewayKeys
        #expect(try await rig.redis.send(["ZCARD", .init(keys.signIns)]).int == 3)
        let digest = try #require(
            try await rig.redis.send(["ZRANGE", .init(keys.signIns), "0", "0"])
                .array?.first?.string)
        let left = try #require(try await rig.redis.send(["PTTL", .init(keys.signIn(digest))]).int)
        #expect((1...600_000).contains(left))
    }

    @Test func `the gateway's own user of Redis needs no more than it has`() async throws {
        let server = try await SharedRedis.server()
        let redis = RedisClient(
            RedisConfiguration(url: try RedisURL(server.url(as: .gateway))),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let used = UsedSignIns(redis: redis, queue: try QueueName("photos"), marksMax: 1)
        let states = [RandomText.make(), RandomText.make()]
        for state in states { #expect(try await used.use(state)) }
        #expect(try await !used.use(states[1]))
        #expect(try await used.use(states[0]))
        await redis.close()
    }

    @Test func `two tabs of a browser sign in one after the other`() async throws {
        let place = try await ProviderRig()
        let person = place.person()
        let one = try await person.visitProvider(next: "/limits")
        let two = try await person.visitProvider(next: "/dead")
        #expect(try await person.get(two, from: "cross-site").text.contains("url=/dead"))
        #expect(try await person.get(one, from: "cross-site").text.contains("url=/limits"))
    }
}

extension Person {
    /// The status of the answer at which a sign-in ends.
    func signInStatus() async throws -> Int {
        let begun = try await get("/signin/oidc")
        guard begun.status == 303, let address = begun.header("Location") else {
            return begun.status
        }
        // The provider's own page is away: the browser shows that. A code from before finds nobody either.
        let state = TestProvider.fields(String(address.split(separator: "?")[1]))["state"] ?? ""
        return try await get(
            "/signin/oidc/callback?state=\(state)&code=x", from: "cross-site"
        ).status
    }
}
