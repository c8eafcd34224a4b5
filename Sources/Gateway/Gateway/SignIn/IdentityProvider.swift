import Edits
import FoundationEssentials
package import Logging

/// An identity provider: starts sign-ins and verifies their results (OpenID Connect Core 1.0, 3.1).
///
/// Its addresses and keys are fetched when they are needed and cached for a time. Nothing is fetched at start, so a gateway
/// runs while the provider is unavailable.
package actor IdentityProvider {
    /// The time for which the provider's addresses are cached.
    static let metadataAge = Duration.seconds(3600)
    /// The time for which its keys are cached: afterwards, a withdrawn key is not accepted any more.
    static let keysAge = Duration.seconds(3600)
    /// The minimum interval between two fetches of the keys because a token names an unknown one, real or invented.
    static let keysRefreshInterval = Duration.seconds(60)
    /// The requested scopes: the usual claims of a person, and groups by the provider's own rules.
    private static let scopes = "openid email profile"
    /// The maximum length of a code, in bytes.
    static let codeBytesMax = 4096

    private struct Kept<Value: Sendable> {
        let value: Value
        let at: ContinuousClock.Instant
    }

    private let settings: ProviderSettings
    private let client = ProviderClient()
    private let logger: Logger
    private var metadata: Kept<ProviderMetadata>?
    private var fetching: Task<Result<ProviderMetadata, OIDCError>, Never>?
    private var keys: Kept<SigningKeys>?
    private var keysRefreshedAt: ContinuousClock.Instant?

    package init(_ settings: ProviderSettings, logger: Logger) {
        self.settings = settings
        self.logger = logger
    }

    /// Returns the address to which a browser is sent to sign in.
    ///
    /// - Parameter state: The text that the provider returns with its response.
    /// - Throws: `providerUnavailable`.
    package func signInURL(
        state: String, _ proof: SignInProof
    ) async throws(OIDCError) -> String {
        let address = try await currentMetadata().authorization
        return address.string + (address.hasQuery ? "&" : "?")
            + FormText.encode([
                ("response_type", "code"), ("client_id", settings.clientID),
                ("redirect_uri", settings.redirectURI), ("scope", Self.scopes), ("state", state),
                ("nonce", proof.nonce), ("code_challenge", proof.challenge),
                ("code_challenge_method", "S256"),
            ])
    }

    /// Exchanges the code that a browser brought back for the person's identity.
    ///
    /// - Parameters:
    ///   - issuer: The parameter `iss` of the response, if any (RFC 9207).
    ///   - proof: The proof with which the sign-in was started.
    /// - Throws: Any of the codes except `invalidSetting`.
    package func identity(
        forCode code: String, issuer: String?, _ proof: SignInProof
    ) async throws(OIDCError) -> Identity {
        guard issuer?.utf8.elementsEqual(settings.issuer.string.utf8) ?? true else {
            throw OIDCError(
                .untrustedToken, "the answer is of another issuer than \(settings.issuer).")
        }
        guard code.utf8.count <= Self.codeBytesMax else {
            throw OIDCError(
                .codeRefused, "the code has more than \(Self.codeBytesMax) bytes.")
        }
        let token = try IDToken(try await redeem(code, proof))
        let claims = try await believed(token)
        return try TokenRules(
            issuer: settings.issuer, clientID: settings.clientID, claim: settings.claim,
            nonce: proof.nonce, now: Int(Date.now.timeIntervalSince1970)
        ).identity(of: claims)
    }

    /// Returns the verified claims of a token. If the token names an unknown key, for example after a rotation, the keys are
    /// fetched again.
    private func believed(_ token: IDToken) async throws(OIDCError) -> JSONValue {
        do throws(OIDCError) {
            return try token.claims(signedBy: try await currentKeys())
        } catch {
            guard error.code == .unknownSigningKey, mayRefreshKeys() else { throw error }
        }
        keys = nil
        return try token.claims(signedBy: try await currentKeys())
    }

    private func mayRefreshKeys() -> Bool {
        let now = ContinuousClock.now
        guard keysRefreshedAt.map({ now - $0 >= Self.keysRefreshInterval }) ?? true else {
            return false
        }
        keysRefreshedAt = now
        return true
    }

    private func currentMetadata() async throws(OIDCError) -> ProviderMetadata {
        if let metadata, .now - metadata.at < Self.metadataAge { return metadata.value }
        // All callers share one request, so a flood of begun sign-ins sends one at a time to a provider that is slow or away.
        let task = fetching ?? Task { await fetchMetadata() }
        fetching = task
        return try await task.value.get()
    }

    private func fetchMetadata() async -> Result<ProviderMetadata, OIDCError> {
        defer { fetching = nil }
        do throws(OIDCError) {
            let asked = ContinuousClock.now
            let document = try await client.get(ProviderMetadata.url(of: settings.issuer))
            let value = try ProviderMetadata(document, of: settings.issuer)
            metadata = Kept(value: value, at: asked)
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    private func currentKeys() async throws(OIDCError) -> SigningKeys {
        if let keys, .now - keys.at < Self.keysAge { return keys.value }
        let asked = ContinuousClock.now
        let value = try SigningKeys(
            try await client.get(try await currentMetadata().keys.string))
        keys = Kept(value: value, at: asked)
        return value
    }

    /// Exchanges a code for the text of an ID token (OpenID Connect Core 1.0, 3.1.3.1).
    private func redeem(_ code: String, _ proof: SignInProof) async throws(OIDCError) -> String {
        let metadata = try await currentMetadata()
        var form = [
            ("grant_type", "authorization_code"), ("code", code),
            ("redirect_uri", settings.redirectURI), ("code_verifier", proof.verifier),
        ]
        var authorization: String?
        switch settings.clientSecret {
        case let secret? where !metadata.requiresSecretInForm:
            // Each is encoded as in a form before they are joined (RFC 6749, 2.3.1).
            let pair = settings.clientID.percentEncoded() + ":" + secret.percentEncoded()
            authorization = "Basic " + Data(pair.utf8).base64EncodedString()
        case let secret?: form += [("client_id", settings.clientID), ("client_secret", secret)]
        case nil: form += [("client_id", settings.clientID)]
        }
        let answer = try await client.post(
            form, to: metadata.token.string, authorization: authorization)
        guard answer.status == 200 else { throw refusal(answer) }
        guard let token = answer.document["id_token"]?.text else {
            throw OIDCError(.untrustedToken, "the provider gave no ID token.")
        }
        return token
    }

    private func refusal(_ answer: ProviderClient.Answer) -> OIDCError {
        let reason = answer.document["error"]?.text ?? ""
        logger.warning(
            "the identity provider refused a code",
            metadata: [
                "oidc.status": "\(answer.status)",
                "oidc.error": "\(String(reason.printable.prefix(100)))",
            ])
        guard ["invalid_client", "unauthorized_client"].contains(reason) || answer.status == 401
        else {
            return OIDCError(
                .codeRefused, "the provider does not take the code that the browser brought.")
        }
        return OIDCError(
            .clientRefused,
            "the provider does not take the client id or secret of this gateway.")
    }
}

/// The addresses of a provider, from its own document (OpenID Connect Discovery 1.0, 3).
struct ProviderMetadata: Sendable, Equatable {
    let authorization: ProviderURL
    let token: ProviderURL
    let keys: ProviderURL
    /// Whether the client's secret is sent in the form, and not in `Authorization`.
    let requiresSecretInForm: Bool

    /// The path of the document, relative to the issuer.
    static let path = "/.well-known/openid-configuration"

    static func url(of issuer: ProviderURL) -> String {
        (issuer.string.hasSuffix("/") ? String(issuer.string.dropLast()) : issuer.string) + path
    }

    /// - Throws: `providerUnavailable` if the document belongs to another provider or is incomplete.
    init(_ document: JSONValue, of issuer: ProviderURL) throws(OIDCError) {
        let named = document["issuer"]?.text ?? ""
        guard named.utf8.elementsEqual(issuer.string.utf8) else {
            throw OIDCError(
                .providerUnavailable,
                "the provider calls itself \(String(named.prefix(200)).debugDescription) but the setting is "
                    + "\(issuer.string.debugDescription); both must be the same text.")
        }
        authorization = try Self.url("authorization_endpoint", document, issuer)
        token = try Self.url("token_endpoint", document, issuer)
        keys = try Self.url("jwks_uri", document, issuer)
        // If the field is missing, the method is client_secret_basic.
        let methods = document["token_endpoint_auth_methods_supported"]?.texts ?? []
        requiresSecretInForm =
            !methods.contains("client_secret_basic") && methods.contains("client_secret_post")
    }

    private static func url(
        _ name: String, _ document: JSONValue, _ issuer: ProviderURL
    ) throws(OIDCError) -> ProviderURL {
        let text = document[name]?.text ?? ""
        let url: ProviderURL
        do throws(OIDCError) {
            url = try ProviderURL(text, as: "\(name) of \(issuer)")
        } catch {
            throw OIDCError(.providerUnavailable, error.message)
        }
        guard url.isSecure || !issuer.isSecure else {
            throw OIDCError(
                .providerUnavailable, "\(name) of \(issuer) is \(text.debugDescription), not https."
            )
        }
        return url
    }
}

/// An identity provider and this gateway as its client.
package struct ProviderSettings: Sendable {
    /// The provider's own name, from which its addresses are derived (OpenID Connect Discovery 1.0, 4).
    package let issuer: ProviderURL
    /// The name of the gateway at the provider.
    package let clientID: String
    /// The secret of a confidential client; nil for a public one, which only PKCE protects.
    let clientSecret: String?
    /// The address to which the provider sends the browser back.
    package let redirectURI: String
    /// The claim of the ID token whose values are the person's groups.
    package let claim: String

    /// The claim that most providers use.
    package static let claimUsual = "groups"
    /// The maximum length of a client id, a claim's name or a secret, in bytes.
    static let textBytesMax = 4096

    /// - Throws: `invalidSetting`.
    package init(
        issuer: String, clientID: String, clientSecret: String?, redirectURI: String,
        claim: String = claimUsual
    ) throws(OIDCError) {
        self.issuer = try ProviderURL(issuer, as: "the issuer")
        guard !self.issuer.hasQuery else {
            throw OIDCError(
                .invalidSetting, "the issuer is \(issuer.debugDescription); an issuer has no query."
            )
        }
        for (what, text) in [("client id", clientID), ("claim", claim)] {
            guard !text.isEmpty, text.utf8.count <= Self.textBytesMax, !text.hasControls else {
                throw OIDCError(
                    .invalidSetting,
                    "the \(what) is \(String(text.prefix(80)).debugDescription); expected text without control "
                        + "characters of at most \(Self.textBytesMax) bytes.")
            }
        }
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.redirectURI = redirectURI
        self.claim = claim
    }
}

extension ProviderSettings: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(clientID) at \(issuer)" }
    /// Leaves out the secret.
    package var customMirror: Mirror {
        Mirror(self, children: ["issuer": issuer.string, "clientID": clientID])
    }
}

/// A URL of an identity provider, in a form that every parser reads alike: `https://host[:port][/path][?query]` in ASCII,
/// or `http://` for this machine, where the connection crosses no network.
package struct ProviderURL: Sendable, Equatable, CustomStringConvertible {
    package let string: String
    let isSecure: Bool

    /// The maximum length of a URL, in bytes.
    static let bytesMax = 2048
    /// The host names of this machine.
    private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// - Parameter what: The name of the URL in the message.
    /// - Throws: `invalidSetting`.
    package init(_ text: String, as what: String = "the URL") throws(OIDCError) {
        // The host contains no character that parsers interpret differently: no @, backslash, percent or Unicode.
        let form =
            /(https?):\/\/([A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?([\/?][!$-;=?-Z_a-z~]*)?/
        guard text.utf8.count <= Self.bytesMax, let match = text.wholeMatch(of: form) else {
            throw OIDCError(
                .invalidSetting,
                "\(what) is \(String(text.prefix(200)).debugDescription); expected https://host, with a port, a path and "
                    + "a query if needed, in ASCII; no user, password or #.")
        }
        isSecure = match.1 == "https"
        guard isSecure || Self.loopback.contains(match.2.lowercased()) else {
            throw OIDCError(
                .invalidSetting,
                "\(what) is \(text.debugDescription); expected https, because an attacker on the network could sign "
                    + "in as "
                    + "anybody. http is for a provider on this machine alone.")
        }
        string = text
    }

    var hasQuery: Bool { string.utf8.contains(UInt8(ascii: "?")) }

    package var description: String { string }
}

/// The conditions under which a token is accepted (OpenID Connect Core 1.0, 3.1.3.7).
struct TokenRules: Sendable {
    let issuer: ProviderURL
    let clientID: String
    let claim: String
    /// The nonce with which the sign-in was started.
    let nonce: String
    /// The time, in seconds since 1970.
    let now: Int

    /// The maximum difference between the clocks of provider and gateway, in seconds.
    static let skewSeconds = 60

    /// - Parameter claims: The claims of a token whose signature was verified.
    /// - Throws: `untrustedToken`.
    func identity(of claims: JSONValue) throws(OIDCError) -> Identity {
        guard claims["iss"]?.text?.utf8.elementsEqual(issuer.string.utf8) ?? false else {
            throw Self.refusal("is of another issuer than \(issuer)")
        }
        try checkAudience(claims)
        try checkTimes(claims)
        guard let given = claims["nonce"]?.text, isSameSecret(given, nonce) else {
            throw Self.refusal("is of another sign-in: its nonce differs")
        }
        guard let subject = claims["sub"]?.text, !subject.isEmpty,
            subject.utf8.count <= Identity.subjectBytesMax, !subject.hasControls
        else { throw Self.refusal("names no user: sub is missing or too long") }
        return Identity(
            subject: subject, person: Self.person(claims, subject),
            groups: Array((claims[claim]?.texts ?? []).prefix(Identity.groupsMax)))
    }

    private func checkAudience(_ claims: JSONValue) throws(OIDCError) {
        let audience = claims["aud"]?.texts ?? []
        func isOwn(_ name: String) -> Bool { name.utf8.elementsEqual(clientID.utf8) }
        guard audience.contains(where: isOwn) else {
            throw Self.refusal("is for another client than \(clientID)")
        }
        guard let party = claims["azp"] else {
            guard audience.count == 1 else {
                throw Self.refusal("is for several clients and does not say which one asked for it")
            }
            return
        }
        guard party.text.map(isOwn) ?? false else {
            throw Self.refusal("was given to another client than \(clientID)")
        }
    }

    private func checkTimes(_ claims: JSONValue) throws(OIDCError) {
        let (now, skew) = (Double(now), Double(Self.skewSeconds))
        guard let end = claims["exp"]?.number, let issued = claims["iat"]?.number else {
            throw Self.refusal("does not say when it was made and when it ends")
        }
        guard end > now - skew else { throw Self.refusal("has expired") }
        guard issued <= now + skew, end > issued else {
            throw Self.refusal(
                "comes from the future; the clocks of the provider and this gateway differ by more than "
                    + "\(Self.skewSeconds) s")
        }
        guard let begin = claims["nbf"] else { return }
        guard let begin = begin.number, begin <= now + skew else {
            throw Self.refusal("is not valid yet")
        }
    }

    private static func person(_ claims: JSONValue, _ subject: String) -> String {
        guard let email = claims["email"]?.text, email.contains("@"), !email.hasControls else {
            return String(subject.printable.prefix(Identity.personLengthMax))
        }
        // Some providers let people enter any address in their profiles.
        let isVerified = claims["email_verified"] == .bool(true)
        let name = isVerified ? email : "\(subject) (\(email))"
        return String(name.printable.prefix(Identity.personLengthMax))
    }

    private static func refusal(_ reason: String) -> OIDCError {
        OIDCError(.untrustedToken, "the ID token \(reason).")
    }
}

/// The person of a verified token: the identity at the provider, and the groups that the provider states.
package struct Identity: Sendable, Equatable {
    /// The provider's identifier of the person, which it never reassigns (`sub`).
    package let subject: String
    /// The name for people: an address that the provider has verified, otherwise the subject with the address in brackets.
    package let person: String
    package let groups: [String]

    /// The maximum length of a subject, in bytes (OpenID Connect Core 1.0, 2).
    static let subjectBytesMax = 255
    /// The maximum length of a name for people, in characters.
    package static let personLengthMax = 200
    /// The maximum number of groups; further ones are ignored.
    static let groupsMax = 1000
}
