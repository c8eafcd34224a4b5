/// A store's description of an object, without its bytes.
public struct Blob: Sendable, Hashable {
    /// The object's length in bytes.
    public let size: Int

    /// The tag of this content. Another content has another tag.
    public let tag: BlobTag

    /// The SHA-256 that the store checked, if it reports one of the whole object.
    public let digest: BlobDigest?

    /// The time at which it was stored; nil if the store does not report it.
    public let modified: BlobTime?
}

/// An object, or a range of it, in memory.
public struct BlobBytes: Sendable {
    /// The description of the whole object.
    public let blob: Blob

    /// The requested bytes.
    public let bytes: [UInt8]

    /// Whether the bytes of a whole object match its digest, if it has one.
    var isSound: Bool { blob.digest.map { $0 == BlobDigest(of: bytes) } ?? true }
}

/// A store's ETag: opaque, and not a checksum.
public struct BlobTag: Sendable, Hashable, CustomStringConvertible {
    /// The tag without quotes. Ceph 16 compares only this form; other stores accept both.
    public let text: String

    /// Creates a tag from the value of a header or a document, with or without quotes.
    public init(_ text: String) {
        let isQuoted = text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        self.text = isQuoted ? String(text.dropFirst().dropLast()) : text
    }

    /// The tag without quotes.
    public var description: String { text }
}

/// The condition of a write, which the store checks atomically with the write.
///
/// There are only these conditions, and only for a whole PUT: for DELETE, COPY and multipart
/// uploads stores differ.
public enum BlobCondition: Sendable, Hashable {
    /// The most bytes of an object that is written with a condition: it is written by one
    /// request, and not in parts.
    public static let bytesMax = 16 << 20

    /// Writes in any case.
    case always
    /// Writes if there is no object with the key.
    case absent
    /// Writes if the object still has this tag.
    case unchanged(BlobTag)
}

/// A page of the list of a store's objects.
public struct BlobPage: Sendable {
    /// One object.
    public struct Entry: Sendable, Hashable {
        /// Its name below the store's prefix.
        public let key: BlobKey
        /// Its length in bytes.
        public let size: Int
        /// Its tag.
        public let tag: BlobTag
        /// The time at which it was stored; nil if the store does not report it.
        public let modified: BlobTime?
    }

    /// At most ``entriesMax`` objects.
    public let entries: [Entry]

    /// The key after which the list continues; nil on the last page.
    public let next: BlobKey?

    /// The most objects in a page. Source: Amazon S3, `max-keys`.
    public static let entriesMax = 1_000
}
