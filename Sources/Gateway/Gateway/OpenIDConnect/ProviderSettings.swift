import Edits

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
