import NIOHTTP1

extension S3Client {
    /// Returns the next objects whose keys begin with `prefix`, in the store's order.
    ///
    /// Each page begins after a key, not at a token, so that any process can continue a listing,
    /// and a listing can be split.
    public func list(
        _ prefix: String = "", after: BlobKey? = nil
    ) async throws(BlobError) -> BlobPage {
        let location = location
        var query = [
            (name: "list-type", value: "2"), ("encoding-type", "url"),
            ("max-keys", String(BlobPage.entriesMax)), ("prefix", location.fullKey(prefix)),
        ]
        if let after { query.append(("start-after", location.fullKey(after.text))) }
        return try await exchange {
            S3Request(method: .GET, key: nil, query: query, right: "s3:ListBucket")
        } _: { response throws(AttemptFailure) in
            try Self.page(
                await Self.document(response, named: "ListBucketResult"), location: location)
        }
    }

    /// Parses a page of a list.
    static func page(
        _ document: XMLNode, location: S3Location
    ) throws(AttemptFailure) -> BlobPage {
        let isEncoded = document.text(of: "EncodingType") == "url"
        var entries: [BlobPage.Entry] = []
        var last: BlobKey?
        var (isByBytes, isByComponents) = (true, true)
        for node in document.children where node.name == "Contents" {
            guard let raw = node.text(of: "Key"), let full = isEncoded ? decoded(raw) : raw,
                let size = node.text(of: "Size").flatMap({ Int($0) }), size >= 0,
                let tag = node.text(of: "ETag")
            else { throw .senseless("a listed object without key, size or ETag") }
            // Skips an object with the name of the prefix itself, which storage consoles create
            // for an empty folder.
            guard let key = location.key(ofListed: full) else { continue }
            if let last {
                isByBytes = isByBytes && last < key
                isByComponents = isByComponents && last.precedesByComponents(key)
                guard isByBytes || isByComponents else {
                    throw .senseless("a list that is out of order")
                }
            }
            last = key
            entries.append(
                BlobPage.Entry(
                    key: key, size: size, tag: BlobTag(tag),
                    modified: node.text(of: "LastModified").flatMap { BlobTime(iso: $0) }))
        }
        let isTruncated = document.text(of: "IsTruncated") == "true"
        guard !isTruncated || last != nil else { throw .senseless("a page of nothing and more") }
        return BlobPage(entries: entries, next: isTruncated ? last : nil)
    }

    /// Decodes a key, which is encoded like a form: a space may be a `+`.
    private static func decoded(_ key: String) -> String? {
        PercentCoding.decoded(String(key.map { $0 == "+" ? " " : $0 }))
    }
}
