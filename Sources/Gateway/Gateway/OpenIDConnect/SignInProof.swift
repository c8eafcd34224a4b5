import Edits

/// The secrets of one sign-in: the provider receives a digest of the first one and returns the second one in its ID token.
package struct SignInProof: Sendable, Equatable {
    /// The code verifier of PKCE (RFC 7636): only the client that started the sign-in can redeem its code.
    package let verifier: String
    /// Binds the ID token to this sign-in (OpenID Connect Core 1.0, 3.1.2.1).
    package let nonce: String

    package init() { self.init(verifier: RandomText.make(), nonce: RandomText.make()) }

    package init(verifier: String, nonce: String) {
        self.verifier = verifier
        self.nonce = nonce
    }

    /// The code challenge, by the method `S256`.
    var challenge: String { SHA256.hash(data: verifier.utf8).base64URL }
}

/// Returns whether two texts have the same bytes; the time does not depend on the place of a difference.
package func isSameSecret(_ one: String, _ other: String) -> Bool {
    // Digests are compared: they have equal lengths, and a difference reveals nothing about the texts.
    SHA256.hash(data: one.utf8) == SHA256.hash(data: other.utf8)
}
