/// The error of a failed sign-in with the identity provider.
package struct OIDCError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind.
    package enum Code: String, Sendable, CaseIterable {
        /// A setting has an invalid value.
        case invalidSetting
        /// The provider sent no response, or one that cannot be used.
        case providerUnavailable
        /// The provider refused the gateway's own client id or secret.
        case clientRefused
        /// The provider refused the code that the browser brought.
        case codeRefused
        /// The ID token does not prove which person signs in here and now.
        case untrustedToken
        /// The ID token names a signing key that the provider does not list.
        case unknownSigningKey
    }

    /// The kind.
    package let code: Code
    /// The sentence for people; it contains no secret, code or token.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
