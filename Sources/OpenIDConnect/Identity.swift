/// The person of a token that is believed: who they are at the provider, and the groups that it says they are in.
package struct Identity: Sendable, Equatable {
    /// The provider's own name of the person, which it never gives to another (`sub`).
    package let subject: String
    /// The name for people: an address that the provider has verified, else the subject with the address in brackets.
    package let person: String
    /// The values of the claim of groups; empty when the token has none.
    package let groups: [String]

    /// Longest subject in bytes (OpenID Connect Core 1.0, 2).
    static let subjectBytesMax = 255
    /// Longest name for people, in characters.
    package static let personLengthMax = 200
    /// Most groups; the rest is not looked at.
    static let groupsMax = 1000
}
