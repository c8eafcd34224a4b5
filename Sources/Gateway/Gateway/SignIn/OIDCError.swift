package import Edits

/// The error of a failed sign-in with the identity provider.
package typealias OIDCError = CodedError<OIDCErrorCode>

package enum OIDCErrorCode: ErrorCode, CaseIterable {
    package static let isShown = true

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
