/// The person of a verified token: the identity at the provider, and the groups that the provider states.
package struct Identity: Sendable, Equatable {
    /// The provider's identifier of the person, which it never reassigns (`sub`).
    package let subject: String
    /// The name for people: an address that the provider has verified, otherwise the subject with the address in brackets.
    package let person: String
    /// The values of the claim of groups; empty if the token has none.
    package let groups: [String]

    /// The maximum length of a subject, in bytes (OpenID Connect Core 1.0, 2).
    static let subjectBytesMax = 255
    /// The maximum length of a name for people, in characters.
    package static let personLengthMax = 200
    /// The maximum number of groups; further ones are ignored.
    static let groupsMax = 1000
}
