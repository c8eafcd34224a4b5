/// The URL of an endpoint, in a form that every parser reads alike: `https://host[:port][/path][?query]` in ASCII.
package struct WebhookURL: Sendable, Hashable, CustomStringConvertible {
    /// The whole text.
    package let string: String
    /// Whether it is `https`.
    let isSecure: Bool
    /// The name in lower case or the address, without the brackets of IPv6.
    let host: String
    let port: Int

    /// The maximum length of a URL, in bytes.
    package static let bytesMax = 2048
    /// The ports that are allowed outside the operator's own ranges.
    static let ports: Set<Int> = [443, 8443]

    /// - Throws: `invalidURL`.
    package init(_ text: String) throws(WebhookError) {
        // The host contains no character that parsers interpret differently: no @, backslash, percent or Unicode.
        let form =
            /(https?):\/\/([a-z0-9](?:[a-z0-9.\-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?((?:[\/?][!$-;=?-Z_a-z~]*)?)/
        guard text.utf8.count <= Self.bytesMax, let match = text.wholeMatch(of: form) else {
            throw Self.refusal(
                text,
                "expected https://host, with a port, a path and a query if needed, in ASCII and the host in lower case; no "
                    + "user, password or #")
        }
        string = text
        isSecure = match.1 == "https"
        port = match.3.flatMap { Int($0) } ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { throw Self.refusal(text, "no port \(port)") }
        host = match.2.hasPrefix("[") ? String(match.2.dropFirst().dropLast()) : String(match.2)
        guard !match.2.hasPrefix("[") || IPAddress(host) != nil else {
            throw Self.refusal(text, "\(host) is no address")
        }
    }

    package var description: String { string }

    private static func refusal(_ text: String, _ reason: String) -> WebhookError {
        WebhookError(
            .invalidURL,
            "URL \(String(text.prefix(200)).debugDescription) is not allowed: \(reason).")
    }
}
