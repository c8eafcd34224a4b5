/// Why nobody could be signed in by the identity provider.
package struct OIDCError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind.
    package enum Code: String, Sendable, CaseIterable {
        /// A setting has a wrong value.
        case invalidSetting
        /// The provider gave no answer, or one that cannot be used.
        case providerUnavailable
        /// The provider does not take the gateway's own client id or secret.
        case clientRefused
        /// The provider does not take the code that the browser brought.
        case codeRefused
        /// The ID token does not say, or not provably, who signs in here and now.
        case untrustedToken
        /// The ID token names a signing key that is not among those of the provider.
        case unknownSigningKey
    }

    /// The kind.
    package let code: Code
    /// The sentence for people; has no secret, code or token in it.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
