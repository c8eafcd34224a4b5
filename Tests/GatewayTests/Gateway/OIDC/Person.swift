import AccessKeys
import Edits
import AsyncHTTPClient
import Foundation
import MinilabTesting
import NIOCore
import NIOHTTP1
@testable import Gateway
import Testing
import Webhooks

/// A gateway that lets people sign in at a provider, with a key for each of its roles, and sends webhooks to this machine.
struct ProviderRig: Sendable {
    static let host = "photos.example"

    let provider: TestProvider
    let rig: GatewayRig
    private let settings: ProviderSignInSettings
    /// The id of the key of `photo-ops`, which may do all.
    let operators: String
    /// The id of the key of `lab`, which may look.
    let lab: String

    /// - Parameters:
    ///   - roles: the groups in the order in which they count; nil: both.
    init(
        on server: RedisServer? = nil, roles: [String] = ["photo-ops", "lab"],
        claim: String = ProviderSettings.claimUsual
    ) async throws {
        let provider = try await TestProvider()
        let first = try await GatewayRig(on: server)
        let operators = try await first.parts.keyStore.create(
            KeyTerms(
                label: "Photo ops", tenant: nil, assetPrefix: AssetPrefix(""),
                scopes: Set(Scope.allCases))
        ).key.id
        let lab = try await first.parts.keyStore.create(
            KeyTerms(
                label: "Lab", tenant: .init("acme"), assetPrefix: AssetPrefix("acme/"),
                scopes: [.read])
        ).key.id
        let keys = ["photo-ops": operators, "lab": lab]
        let pairs = roles.compactMap { role in keys[role].map { "\(role)=\($0)" } }
        let settings = ProviderSignInSettings(
            provider: try ProviderSettings(
                issuer: provider.issuer, clientID: TestProvider.clientID,
                clientSecret: TestProvider.clientSecret,
                redirectURI: "https://\(Self.host)/signin/oidc/callback", claim: claim),
            roles: try SignInRoles(pairs.joined(separator: ",")), name: "Example & Co")
        rig = try await Self.gateway(beside: first, settings)
        self.settings = settings
        (self.provider, self.operators, self.lab) = (provider, operators, lab)
    }

    /// One more gateway of the same people, keys and provider.
    func another() async throws -> GatewayRig { try await Self.gateway(beside: rig, settings) }

    private static func gateway(
        beside other: GatewayRig, _ settings: ProviderSignInSettings
    ) async throws -> GatewayRig {
        let own = try AddressRange("127.0.0.0/8")
        return try await GatewayRig(beside: other) {
            $0.webhooksAllowed = [own]
            $0.publicOrigin = "https://\(host)"
            $0.providerSignIn = settings
        }
    }

    /// Somebody with a new browser.
    func person() -> Person { Person(rig) }
}

/// A person with a browser that keeps cookies, and sends those that are `Strict` on no way that another site began.
final class Person {
    /// The gateway to which the proxy leads at the moment.
    var gateway: GatewayRig
    private var cookies: [String: (value: String, isStrict: Bool)] = [:]

    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

    fileprivate init(_ gateway: GatewayRig) { self.gateway = gateway }

    var cookieNames: Set<String> { Set(cookies.keys) }

    /// The text of a cookie.
    func cookie(_ name: String) -> String? { cookies[name]?.value }

    /// Takes over the cookies of another browser.
    func copy(_ name: String, from other: Person) { cookies[name] = other.cookies[name] }

    func get(_ path: String, from site: String = "same-origin") async throws -> GatewayRig.Answer {
        try await send("GET", path, site: site)
    }

    func send(
        _ method: String, _ path: String, _ form: String? = nil, site: String = "same-origin"
    ) async throws -> GatewayRig.Answer {
        let sent = cookies.filter { site != "cross-site" || !$0.value.isStrict }
        var headers = ["Host": ProviderRig.host, "Sec-Fetch-Site": site]
        if !sent.isEmpty {
            headers["Cookie"] = sent.map { "\($0)=\($1.value)" }.joined(separator: "; ")
        }
        if form != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        let answer = try await gateway.send(method, path, body: form, headers: headers)
        for field in answer.headers["set-cookie"] ?? [] {
            let parts = field.split(separator: ";").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let pair = parts[0].split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            cookies[String(pair[0])] =
                parts.contains("Max-Age=0")
                ? nil : (String(pair[1]), parts.contains("SameSite=Strict"))
        }
        return answer
    }

    /// Begins a sign-in and says at the provider who one is.
    ///
    /// - Returns: the path with which the provider sends the browser back.
    func visitProvider(next: String? = nil) async throws -> String {
        let path = "/signin/oidc" + (next.map { "?next=" + TestProvider.encoded($0) } ?? "")
        let begun = try await get(path)
        try #require(begun.status == 303, "\(begun.text)")
        let address = try #require(begun.header("Location"))
        let answer = try await Self.client.execute(
            HTTPClientRequest(url: address), timeout: .seconds(300))
        try #require(answer.status == .found)
        let back = try #require(answer.headers.first(name: "location"))
        let origin = "https://\(ProviderRig.host)"
        try #require(back.hasPrefix(origin))
        return String(back.dropFirst(origin.count))
    }

    /// Signs in at the provider.
    ///
    /// - Returns: the answer to the way back.
    func signIn(next: String? = nil) async throws -> GatewayRig.Answer {
        try await get(try await visitProvider(next: next), from: "cross-site")
    }

    /// Whether one is signed in.
    func isSignedIn() async throws -> Bool { try await get("/batches").status == 200 }
}
