// The endpoint in an `s3://` URL, and in other settings with the address of a server.
extension BlobURLParser {
    /// Parses `https://host[:port]` or `http://host[:port]`, with or without a `/` at its end.
    static func endpoint(_ text: Substring) throws(BlobError) -> BlobURL.Endpoint {
        guard let end = text.firstRange(of: "://"),
            ["http", "https"].contains(text[..<end.lowerBound])
        else {
            throw BlobError(
                .invalidURL,
                "In the store's URL the endpoint has no scheme: write endpoint=https://host:port "
                    + "(or http:// for a server on this machine).")
        }
        let usesTLS = text[..<end.lowerBound] == "https"
        var authority = text[end.upperBound...]
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        guard !authority.contains("@") else {
            throw BlobError(
                .invalidURL,
                "In the store's URL the endpoint has an \"@\": leave the login out of it.")
        }
        let host: Substring
        let portText: Substring?
        if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
            host = authority[..<close].dropFirst()
            let tail = authority[close...].dropFirst()
            guard tail.isEmpty || tail.hasPrefix(":") else {
                throw invalid("the endpoint", authority, expected: "[IPv6 address]:port")
            }
            portText = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else {
                throw invalid(
                    "the endpoint", authority, expected: "one \":\" or [IPv6 address]:port")
            }
            host = parts.first ?? ""
            portText = parts.count == 2 ? parts[1] : nil
        }
        let isPlain = host.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && !"/?#%\\\"<>".utf8.contains(byte)
        }
        guard !host.isEmpty, isPlain else {
            throw invalid("the endpoint's host", host, expected: "a host name or an IP address")
        }
        guard let portText else {
            return BlobURL.Endpoint(usesTLS: usesTLS, host: String(host), port: nil)
        }
        guard let port = Int(portText), (1...65_535).contains(port) else {
            throw invalid("the endpoint's port", portText, expected: "a number from 1 to 65535")
        }
        return BlobURL.Endpoint(usesTLS: usesTLS, host: String(host), port: port)
    }
}
