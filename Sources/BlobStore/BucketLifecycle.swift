/// The rules by which a bucket removes objects on its own.
public struct BucketLifecycle: Sendable, Hashable {
    /// A rule that is on.
    public struct Rule: Sendable, Hashable {
        /// Its name; empty where it has none.
        public var name = ""
        /// The beginning of the keys that it is for; empty means all.
        public var prefix = ""
        /// Whether it is only for objects with certain tags.
        public var needsTags = false
        /// Whether it removes objects.
        public var expires = false
        /// The class to which it moves objects that nobody can read from there at once, such as `GLACIER`.
        public var archive: String?
        /// Whether it removes the versions of objects that were replaced or removed.
        public var expiresNoncurrent = false
        /// Whether it removes uploads in parts that nobody has ended.
        public var abortsUploads = false

        /// A rule that does nothing.
        public init() {}

        /// Whether it is for all keys that begin so.
        public func covers(_ prefix: String) -> Bool {
            !needsTags && prefix.utf8.starts(with: self.prefix.utf8)
        }

        /// Whether it is for any key that begins so.
        public func touches(_ prefix: String) -> Bool {
            covers(prefix) || !needsTags && self.prefix.utf8.starts(with: prefix.utf8)
        }
    }

    /// The rules that are on.
    public var rules: [Rule] = []

    /// No rules, unless given.
    public init(_ rules: [Rule] = []) { self.rules = rules }
}

extension BucketLifecycle {
    /// Reads a store's document. Source: Amazon S3 API reference, GetBucketLifecycleConfiguration.
    init(_ document: XMLNode) {
        rules = document.children.compactMap { $0.name == "Rule" ? Rule($0) : nil }
    }
}

extension BucketLifecycle.Rule {
    /// Classes whose objects have to be restored before they are read. Source: Amazon S3, "Storage classes"; GLACIER_IR
    /// is read at once.
    private static let archives: Set = ["GLACIER", "DEEP_ARCHIVE"]

    /// Nil for a rule that is off.
    fileprivate init?(_ node: XMLNode) {
        guard node.text(of: "Status") == "Enabled" else { return nil }
        name = node.text(of: "ID") ?? ""
        let filter = node["Filter"]
        let all = filter?["And"] ?? filter
        prefix = all?.text(of: "Prefix") ?? node.text(of: "Prefix") ?? ""
        needsTags = all?["Tag"] != nil
        if let expiration = node["Expiration"] {
            // The other one removes only what is removed already: its marker.
            expires = expiration["Days"] != nil || expiration["Date"] != nil
        }
        archive = node.children.lazy.filter { $0.name == "Transition" }
            .compactMap { $0.text(of: "StorageClass") }.first(where: Self.archives.contains)
        expiresNoncurrent = node["NoncurrentVersionExpiration"] != nil
        abortsUploads = node["AbortIncompleteMultipartUpload"] != nil
    }
}
