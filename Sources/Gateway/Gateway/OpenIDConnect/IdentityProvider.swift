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
