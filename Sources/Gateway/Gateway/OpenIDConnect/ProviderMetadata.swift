import Edits

/// The addresses of a provider, from its own document (OpenID Connect Discovery 1.0, 3).
struct ProviderMetadata: Sendable, Equatable {
    let authorization: ProviderURL
    let token: ProviderURL
    let keys: ProviderURL
    /// Whether the client's secret is sent in the form, and not in `Authorization`.
    let requiresSecretInForm: Bool

    /// The path of the document, relative to the issuer.
    static let path = "/.well-known/openid-configuration"

    /// Returns the address of the document.
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
