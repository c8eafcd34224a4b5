public import Edits

/// An `s3://` URL split into its parts, which are not validated yet.
struct BlobURLParser {
    /// The most bytes of a whole URL.
    static let bytesMax = 4_096

    private let bucket: Substring
    private let path: Substring
    private let query: Substring

    init(_ text: String) throws(BlobError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw BlobError(
                .invalidURL,
                "The store's URL has \(text.utf8.count) bytes; expected at most \(Self.bytesMax).")
        }
        guard text.hasPrefix("s3://") else {
            let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound] } ?? ""
            throw Self.invalid("the scheme", scheme, expected: "s3, as in s3://bucket/prefix")
        }
        let rest = text.dropFirst("s3://".count)
        let mark = rest.firstIndex(of: "?") ?? rest.endIndex
        let location = rest[..<mark]
        query = rest[mark...].dropFirst()
        let slash = location.firstIndex(of: "/") ?? location.endIndex
        bucket = location[..<slash]
        path = location[slash...].dropFirst()
        guard !bucket.contains("@") else {
            throw BlobError(
                .invalidURL,
                "The store's URL has an \"@\" before its first \"/\": leave the login out of it. "
                    + "Credentials come from settings, the environment or the machine.")
        }
    }

    /// Returns the bucket's name. Source of the rules: Amazon S3 user guide, "Bucket naming
    /// rules".
    func bucketName() throws(BlobError) -> String {
        let isPlain = bucket.utf8.allSatisfy { byte in
            Self.isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        guard let first = bucket.utf8.first, let last = bucket.utf8.last, isPlain,
            (3...63).contains(bucket.utf8.count), Self.isLetterOrDigit(first),
            Self.isLetterOrDigit(last), !bucket.contains("..")
        else {
            throw Self.invalid(
                "the bucket", bucket,
                expected: "3 to 63 small letters, digits, \"-\" and \".\", with a letter or digit "
                    + "at both ends")
        }
        return String(bucket)
    }

    func prefix() throws(BlobError) -> String {
        guard !path.contains("#") else {
            throw Self.invalid("the prefix", path, expected: "\"#\" written as %23")
        }
        guard let decoded = path.percentDecoded else {
            throw Self.invalid(
                "the prefix", path, expected: "UTF-8, with \"%\" itself written as %25")
        }
        let prefix = decoded.hasSuffix("/") ? String(decoded.dropLast()) : decoded
        guard !prefix.isEmpty else { return "" }
        do {
            return try BlobKey(prefix).text
        } catch {
            throw BlobError(
                .invalidURL, "The prefix in the store's URL is no key. \(error.message)")
        }
    }

    typealias Settings = (endpoint: BlobURL.Endpoint?, region: String?, style: BlobURL.Style?)

    func settings() throws(BlobError) -> Settings {
        var settings: Settings = (nil, nil, nil)
        var seen: Set<Substring> = []
        for pair in query.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            guard seen.insert(name).inserted else {
                throw Self.invalid("the setting", name, expected: "each of them once")
            }
            let raw = pair.dropFirst(name.count + 1)
            guard let value = raw.percentDecoded, !value.isEmpty else {
                throw BlobError(
                    .invalidURL,
                    "In the store's URL \(name) has no value: write \(name)=value or leave it out.")
            }
            switch name {
            case "endpoint": settings.endpoint = try Self.endpoint(value[...])
            case "region": settings.region = try Self.region(value[...])
            case "style":
                guard let style = BlobURL.Style(rawValue: value) else {
                    throw Self.invalid("style", value[...], expected: "path or virtual")
                }
                settings.style = style
            default:
                throw Self.invalid("a setting", name, expected: "endpoint, region or style")
            }
        }
        return settings
    }

    private static func region(_ text: Substring) throws(BlobError) -> String {
        let isPlain = text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        guard isPlain, text.utf8.count <= 64 else {
            throw invalid("the region", text, expected: "a name such as eu-central-1")
        }
        return String(text)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    static func invalid(_ part: String, _ value: Substring, expected: String) -> BlobError {
        BlobError(
            .invalidURL,
            "In the store's URL \(part) is \"\(value.prefix(80))\"; expected \(expected).")
    }
}

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

/// The location of a library in an object store.
///
///     s3://bucket[/prefix][?endpoint=https://host[:port]&region=region&style=path|virtual]
///
/// The prefix is percent-encoded. Without an endpoint the store is Amazon's own. A URL contains
/// no login: credentials come from settings, the environment or the machine.
public struct BlobURL: Sendable, Hashable {
    /// The position of a bucket's name in a request.
    public enum Style: String, Sendable, CaseIterable {
        /// In the path: `https://host/bucket/key`.
        case path
        /// In the host: `https://bucket.host/key`.
        case virtual
    }

    /// The server, if it is not Amazon's.
    public struct Endpoint: Sendable, Hashable {
        /// Whether requests are encrypted and the server's certificate verified.
        public let usesTLS: Bool
        /// A host name, an IPv4 address or an IPv6 address without brackets.
        public let host: String
        /// The port; nil means the scheme's own, 443 or 80.
        public let port: Int?
    }

    public let bucket: String

    /// The common prefix of all keys, without a `/` at its end; empty means the whole bucket.
    public let prefix: String

    /// The server; nil means Amazon's for the region.
    public let endpoint: Endpoint?

    /// The region for signatures; nil means that the store's answer reveals it.
    public let region: String?

    /// The position of the bucket's name; nil means in the host for Amazon, otherwise in the
    /// path.
    public let style: Style?

    /// Parses a URL.
    ///
    /// Throws `invalidURL` with the invalid part and the allowed values. No
    /// message includes text before an `@`.
    public init(_ text: String) throws(BlobError) {
        let parser = try BlobURLParser(text)
        bucket = try parser.bucketName()
        prefix = try parser.prefix()
        let settings = try parser.settings()
        endpoint = settings.endpoint
        region = settings.region
        style = settings.style
    }

    /// Whether keys and photos are sent over a network unencrypted: HTTP to a host other than
    /// this machine.
    public var sendsInClear: Bool {
        guard let endpoint, !endpoint.usesTLS else { return false }
        return !LoopbackHost.names(endpoint.host)
    }
}

extension BlobURL.Endpoint: CustomStringConvertible {
    public var description: String {
        (usesTLS ? "https://" : "http://") + authority
    }

    /// The host and, if there is one, the port, in the form of the `Host` header.
    var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }
}

extension BlobURL: CustomStringConvertible {
    /// The URL in a form that can be parsed again.
    public var description: String {
        let path = prefix.isEmpty ? "" : "/" + prefix.percentEncoded(keeping: "/")
        let query = [
            endpoint.map { "endpoint=\($0)" }, region.map { "region=\($0)" },
            style.map { "style=\($0.rawValue)" },
        ].compactMap { $0 }.joined(separator: "&")
        return "s3://\(bucket)\(path)" + (query.isEmpty ? "" : "?\(query)")
    }
}

/// The names and addresses of this machine itself.
enum LoopbackHost {
    /// Returns whether `host` is this machine, as far as its spelling shows.
    static func names(_ host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        // A host name may begin with "127." too.
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
