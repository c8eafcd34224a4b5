/// Which URL an object has, for one region.
struct S3Place: Sendable, Hashable {
    /// The region to begin with where nobody named one; stores that have none take it, Amazon's tell
    /// the right one.
    static let defaultRegion = "us-east-1"

    let url: BlobURL
    var region: String

    init(_ url: BlobURL) {
        self.url = url
        region = url.region ?? Self.defaultRegion
    }

    /// Whether the bucket is in the path.
    var style: BlobURL.Style {
        if let style = url.style { return style }
        let isAmazon = url.endpoint?.host.hasSuffix(".amazonaws.com") ?? true
        // A certificate for *.s3.amazonaws.com does not hold for a name with more dots.
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

    /// The value of `Host`.
    var authority: String {
        style == .virtual ? "\(url.bucket).\(endpoint.authority)" : endpoint.authority
    }

    /// The whole key in the bucket.
    func fullKey(_ text: String) -> String {
        url.prefix.isEmpty ? text : text.isEmpty ? url.prefix + "/" : "\(url.prefix)/\(text)"
    }

    /// The path of an object, or of the bucket, encoded as it is signed and sent.
    func path(_ key: BlobKey?) -> String {
        let bucket = style == .path ? "/" + url.bucket : ""
        guard let key else { return bucket.isEmpty ? "/" : bucket }
        return bucket + "/" + PercentCoding.encoded(fullKey(key.text), keepsSlash: true)
    }

    /// An object, or the bucket, as people name it.
    func name(_ key: BlobKey?) -> String {
        "s3://\(url.bucket)" + (key.map { "/" + fullKey($0.text) } ?? "")
    }

    /// The key below our prefix; nil for an object that is not there.
    func key(ofListed full: String) -> BlobKey? {
        let start = fullKey("")
        guard full.hasPrefix(start), full.utf8.count > start.utf8.count else { return nil }
        return BlobKey(listed: String(full.dropFirst(start.count)))
    }
}
