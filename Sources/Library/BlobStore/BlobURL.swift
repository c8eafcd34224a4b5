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

    /// The name of the bucket.
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
    /// Throws ``BlobError/Code/invalidURL`` with the invalid part and the allowed values. No
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
    /// Scheme, host and port.
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
        let path = prefix.isEmpty ? "" : "/" + PercentCoding.encoded(prefix, keepsSlash: true)
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
