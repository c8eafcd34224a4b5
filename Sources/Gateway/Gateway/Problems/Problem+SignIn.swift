import Edits

extension Problem {
    /// Seconds after which a person should try again if the provider did not answer.
    static let providerRetrySeconds = 30

    init(_ error: OIDCError) {
        switch error.code {
        case .providerUnavailable, .invalidSetting:
            self.init(
                .providerUnavailable,
                "The identity provider cannot be reached now: \(error.message) Try again later, or sign in with a key; "
                    + "people who are signed in stay signed in.",
                retryAfter: Self.providerRetrySeconds)
        case .clientRefused:
            self.init(
                .providerUnavailable,
                "Sign-in does not work: \(error.message) The operator must compare both with the provider's.",
                retryAfter: Self.providerRetrySeconds)
        case .codeRefused:
            self.init(
                .signInRefused,
                "You are not signed in: \(error.message) Begin again at the sign-in page.")
        case .untrustedToken, .unknownSigningKey:
            self.init(
                .signInRefused,
                "You are not signed in: \(error.message) Begin again. If the error persists, inform the operator."
            )
        }
    }

    /// Creates a problem from an error response of the provider (RFC 6749, 4.1.2.1).
    init(ofProvider error: String) {
        // Only the error codes of the standard are recognised, because the response arrives through the browser.
        switch error {
        case "access_denied":
            self.init(
                .signInRefused,
                "You are not signed in: the provider answered access_denied. You declined there, or you may not use "
                    + "this client."
            )
        case "server_error", "temporarily_unavailable":
            self.init(
                .providerUnavailable,
                "The identity provider answered \(error). Try again later, or sign in with a key.",
                retryAfter: Self.providerRetrySeconds)
        case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope",
            "login_required", "consent_required", "interaction_required",
            "account_selection_required":
            self.init(
                .signInRefused,
                "You are not signed in: the provider answered \(error). Its operator must check the client's "
                    + "settings there."
            )
        default:
            self.init(
                .signInRefused,
                "You are not signed in: the provider refused, for a reason that it does not name.")
        }
    }
}
