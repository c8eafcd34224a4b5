/// A store's description of an object, without its bytes.
public struct Blob: Sendable, Hashable {
    /// The object's length in bytes.
    public let size: Int

    /// Names this content of the object; the next content has another.
    public let tag: BlobTag

    /// The SHA-256 that the store checked, where it tells one of the whole object.
    public let digest: BlobDigest?

    /// When the store took it; nil where it does not say.
    public let modified: BlobTime?
}

/// An object, or a range of it, in memory.
public struct BlobBytes: Sendable {
    /// The description of the whole object.
    public let blob: Blob

    /// The bytes that were asked for.
    public let bytes: [UInt8]

    /// Whether the bytes of a whole object are those of its digest, if it has one.
    var isSound: Bool { blob.digest.map { $0 == BlobDigest(of: bytes) } ?? true }
}

/// A store's ETag: opaque, not a checksum of anything.
public struct BlobTag: Sendable, Hashable, CustomStringConvertible {
    /// The tag without quotes, because Ceph 16 compares it only so and others take both.
    public let text: String

    /// Reads a header's or a document's value, with quotes or without.
    public init(_ text: String) {
        let isQuoted = text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        self.text = isQuoted ? String(text.dropFirst().dropLast()) : text
    }

    /// The tag without quotes.
    public var description: String { text }
}

/// The condition of a write, decided by the store in one step with the write.
///
/// Only these, and only on a whole PUT: on DELETE, COPY and multipart uploads stores differ.
public enum BlobCondition: Sendable, Hashable {
    /// The most bytes of an object that is written on a condition: it is written by one request, and not in parts.
    public static let bytesMax = 16 << 20

    /// Writes whatever is there.
    case always
    /// Writes if there is no object of the key.
    case absent
    /// Writes if the object still has this tag.
    case unchanged(BlobTag)
}

/// A part of the list of a store's objects.
public struct BlobPage: Sendable {
    /// One object.
    public struct Entry: Sendable, Hashable {
        /// Its name below the store's prefix.
        public let key: BlobKey
        /// Its length in bytes.
        public let size: Int
        /// Its tag.
        public let tag: BlobTag
        /// When the store took it; nil where it does not say.
        public let modified: BlobTime?
    }

    /// At most ``entriesMax`` objects.
    public let entries: [Entry]

    /// The key to go on after; nil when these were the last.
    public let next: BlobKey?

    /// The most objects in a page. Source: Amazon S3, `max-keys`.
    public static let entriesMax = 1_000
}
