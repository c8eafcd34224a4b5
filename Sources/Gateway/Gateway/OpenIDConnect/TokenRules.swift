import Edits

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
