/// The URLs of objects, for one region.
struct S3Location: Sendable, Hashable {
    /// The first region if none is configured. Stores without regions accept it, and Amazon's
    /// answers with the correct one.
    static let defaultRegion = "us-east-1"

    let url: BlobURL
    var region: String

    init(_ url: BlobURL) {
        self.url = url
        region = url.region ?? Self.defaultRegion
    }

    /// The position of the bucket's name in requests.
    var style: BlobURL.Style {
        if let style = url.style { return style }
        let isAmazon = url.endpoint?.host.hasSuffix(".amazonaws.com") ?? true
        // A certificate for *.s3.amazonaws.com is not valid for a name with more dots.
        return isAmazon && !url.bucket.contains(".") ? .virtual : .path
    }

    /// The server, without the bucket.
    private var endpoint: BlobURL.Endpoint {
        if let endpoint = url.endpoint { return endpoint }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        return BlobURL.Endpoint(usesTLS: true, host: "s3.\(region).\(domain)", port: nil)
    }

    /// `https` or `http`.
    var scheme: String { endpoint.usesTLS ? "https" : "http" }

    /// The value of the `Host` header.
    var authority: String {
        style == .virtual ? "\(url.bucket).\(endpoint.authority)" : endpoint.authority
    }

    /// Returns the whole key in the bucket.
    func fullKey(_ text: String) -> String {
        url.prefix.isEmpty ? text : text.isEmpty ? url.prefix + "/" : "\(url.prefix)/\(text)"
    }

    /// Returns the path of an object, or of the bucket, encoded as it is signed and sent.
    func path(_ key: BlobKey?) -> String {
        let bucket = style == .path ? "/" + url.bucket : ""
        guard let key else { return bucket.isEmpty ? "/" : bucket }
        return bucket + "/" + PercentCoding.encoded(fullKey(key.text), keepsSlash: true)
    }

    /// Returns the name of an object, or of the bucket, for messages.
    func name(_ key: BlobKey?) -> String {
        "s3://\(url.bucket)" + (key.map { "/" + fullKey($0.text) } ?? "")
    }

    /// Returns the key below the store's prefix; nil for an object outside it.
    func key(ofListed full: String) -> BlobKey? {
        let start = fullKey("")
        guard full.hasPrefix(start), full.utf8.count > start.utf8.count else { return nil }
        return BlobKey(listed: String(full.dropFirst(start.count)))
    }
}
