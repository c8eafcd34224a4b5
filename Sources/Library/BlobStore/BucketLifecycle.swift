/// The lifecycle rules by which a bucket removes objects.
public struct BucketLifecycle: Sendable, Hashable {
    /// An enabled rule.
    public struct Rule: Sendable, Hashable {
        /// Its name; empty if it has none.
        public var name = ""
        /// The prefix of the keys to which it applies; empty means all.
        public var prefix = ""
        /// Whether it applies only to objects with certain tags.
        public var needsTags = false
        /// Whether it removes objects.
        public var expires = false
        /// The class to which it moves objects and from which they cannot be read immediately,
        /// such as `GLACIER`.
        public var archive: String?
        /// Whether it removes old versions of objects that were replaced or removed.
        public var expiresNoncurrent = false
        /// Whether it removes incomplete multipart uploads.
        public var abortsUploads = false

        /// Creates a rule without effect.
        public init() {}

        /// Returns whether it applies to all keys with a prefix.
        public func covers(_ prefix: String) -> Bool {
            !needsTags && prefix.utf8.starts(with: self.prefix.utf8)
        }

        /// Returns whether it applies to any key with a prefix.
        public func touches(_ prefix: String) -> Bool {
            covers(prefix) || !needsTags && self.prefix.utf8.starts(with: prefix.utf8)
        }
    }

    /// The enabled rules.
    public var rules: [Rule] = []

    /// Creates a set of rules; by default an empty one.
    public init(_ rules: [Rule] = []) { self.rules = rules }
}

extension BucketLifecycle {
    /// Parses a store's document. Source: Amazon S3 API reference,
    /// GetBucketLifecycleConfiguration.
    init(_ document: XMLNode) {
        rules = document.children.compactMap { $0.name == "Rule" ? Rule($0) : nil }
    }
}

extension BucketLifecycle.Rule {
    /// The classes whose objects must be restored before they can be read. Source: Amazon S3,
    /// "Storage classes". Objects in GLACIER_IR can be read immediately.
    private static let archives: Set = ["GLACIER", "DEEP_ARCHIVE"]

    /// Parses a rule; nil if it is disabled.
    fileprivate init?(_ node: XMLNode) {
        guard node.text(of: "Status") == "Enabled" else { return nil }
        name = node.text(of: "ID") ?? ""
        let filter = node["Filter"]
        let all = filter?["And"] ?? filter
        prefix = all?.text(of: "Prefix") ?? node.text(of: "Prefix") ?? ""
        needsTags = all?["Tag"] != nil
        if let expiration = node["Expiration"] {
            // Without Days or Date, the rule only removes the delete markers of objects that are
            // already removed.
            expires = expiration["Days"] != nil || expiration["Date"] != nil
        }
        archive = node.children.lazy.filter { $0.name == "Transition" }
            .compactMap { $0.text(of: "StorageClass") }.first(where: Self.archives.contains)
        expiresNoncurrent = node["NoncurrentVersionExpiration"] != nil
        abortsUploads = node["AbortIncompleteMultipartUpload"] != nil
    }
}
