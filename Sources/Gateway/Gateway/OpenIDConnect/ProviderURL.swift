/// A URL of an identity provider, in a form that every parser reads alike: `https://host[:port][/path][?query]` in ASCII,
/// or `http://` for this machine, where the connection crosses no network.
package struct ProviderURL: Sendable, Equatable, CustomStringConvertible {
    /// The whole text.
    package let string: String
    /// Whether it is `https`.
    let isSecure: Bool

    /// The maximum length of a URL, in bytes.
    static let bytesMax = 2048
    /// The host names of this machine.
    private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// - Parameter what: The name of the URL in the message.
    /// - Throws: `invalidSetting`.
    package init(_ text: String, as what: String = "the URL") throws(OIDCError) {
        // The host contains no character that parsers interpret differently: no @, backslash, percent or Unicode.
        let form =
            /(https?):\/\/([A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?([\/?][!$-;=?-Z_a-z~]*)?/
        guard text.utf8.count <= Self.bytesMax, let match = text.wholeMatch(of: form) else {
            throw OIDCError(
                .invalidSetting,
                "\(what) is \(String(text.prefix(200)).debugDescription); expected https://host, with a port, a path and "
                    + "a query if needed, in ASCII; no user, password or #.")
        }
        isSecure = match.1 == "https"
        guard isSecure || Self.loopback.contains(match.2.lowercased()) else {
            throw OIDCError(
                .invalidSetting,
                "\(what) is \(text.debugDescription); expected https, because an attacker on the network could sign "
                    + "in as "
                    + "anybody. http is for a provider on this machine alone.")
        }
        string = text
    }

    /// Whether it has a query.
    var hasQuery: Bool { string.utf8.contains(UInt8(ascii: "?")) }

    package var description: String { string }
}
