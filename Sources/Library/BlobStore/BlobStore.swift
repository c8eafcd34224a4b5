public import NIOCore

/// A store of named objects, which are written as a whole, under one of two conditions: absent,
/// and unchanged.
///
/// The library depends on nothing else. After a failed write only the error's code is certain:
/// after `unknownFate` and `cancelled` read the object to find
/// out its state.
public protocol BlobStore: Sendable {
    /// Describes the object with that name. Throws `notFound` if there is none.
    func head(_ key: BlobKey) async throws(BlobError) -> Blob

    /// Reads an object, or a range of it, and passes its bytes to a sink in order.
    ///
    /// After a lost connection reading continues at the same position, in the same content, or
    /// fails. `sink` must not call the store, because this call occupies one of its permits.
    ///
    /// - Parameters:
    ///   - range: The bytes to read, which must begin within the object; nil means all.
    ///   - tag: The expected content. Other content throws `changed`.
    ///   - sink: Receives the next bytes. Its errors end the call with `local`.
    /// - Returns: The description of the whole object.
    @discardableResult
    func get(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob

    /// Reads an object, or a range of it, into memory.
    ///
    /// - Parameter limit: The most bytes. More bytes throw `invalid`.
    func bytes(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?, atMost limit: Int
    ) async throws(BlobError) -> BlobBytes

    /// Writes an object atomically: readers see either all of it, or the previous object.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 of `source`, which the store compares.
    ///   - condition: Supported only for objects that are written by one request.
    @discardableResult
    func put(
        _ key: BlobKey, _ source: BlobSource, digest: BlobDigest, if condition: BlobCondition,
        _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag

    /// Makes `target` an object with the content that `key` has under `tag`. The store copies the
    /// bytes itself.
    @discardableResult
    func copy(
        _ key: BlobKey, _ tag: BlobTag, to target: BlobKey, _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag

    /// Removes objects. Missing objects count as removed.
    ///
    /// - Returns: The objects that still exist, each with the reason.
    func delete(_ keys: [BlobKey]) async throws(BlobError) -> [BlobKey: BlobError]

    /// Returns the next objects whose keys begin with `prefix`, in the store's order.
    ///
    /// That is the byte order of the keys, or the order of a tree of folders, as in SeaweedFS,
    /// where `a/b` comes before `a-b`. In both cases a page continues where the one before ended.
    ///
    /// - Parameter after: The key after which the page begins; an object with that key need not
    ///   exist. nil means the beginning.
    func list(_ prefix: String, after: BlobKey?) async throws(BlobError) -> BlobPage

    /// Returns a URL from which any client may read the object for that time, at most seven days.
    func link(_ key: BlobKey, for time: Duration) async throws(BlobError) -> BlobLink
}

/// A URL that needs no credentials until it expires.
public struct BlobLink: Sendable, Hashable {
    /// The longest validity. Source: SigV4, `X-Amz-Expires`.
    public static let timeMax = Duration.seconds(7 * 86_400)

    /// The URL. It must be kept as secret as a password, because it grants access to its object.
    public let url: String

    /// The time of expiry, which is earlier than requested if the credentials expire earlier.
    public let expires: BlobTime
}

extension BlobStore {
    /// Writes an object from bytes in memory.
    @discardableResult
    public func put(
        _ key: BlobKey, _ bytes: [UInt8], if condition: BlobCondition = .always,
        _ attributes: BlobAttributes = BlobAttributes()
    ) async throws(BlobError) -> BlobTag {
        try await put(
            key, .bytes(bytes), digest: BlobDigest(of: bytes), if: condition, attributes)
    }
}

/// A store's description of an object, without its bytes.
public struct Blob: Sendable, Hashable {
    public let size: Int

    /// The tag of this content. Another content has another tag.
    public let tag: BlobTag

    /// The SHA-256 that the store checked, if it reports one of the whole object.
    public let digest: BlobDigest?

    /// The time at which it was stored; nil if the store does not report it.
    public let modified: BlobTime?
}

public struct BlobBytes: Sendable {
    public let blob: Blob

    public let bytes: [UInt8]

    /// Whether the bytes of a whole object match its digest, if it has one.
    var isSound: Bool { blob.digest.map { $0 == BlobDigest(of: bytes) } ?? true }
}

/// The properties of an object other than its bytes.
public struct BlobAttributes: Sendable, Hashable {
    /// The media type, such as `image/jpeg`; nil means the store's default.
    public var mediaType: String?

    /// Whether ``S3Configuration/storageClass`` applies. Pointers are read too often for most
    /// storage classes.
    public var usesStorageClass: Bool

    public init(mediaType: String? = nil, usesStorageClass: Bool = false) {
        self.mediaType = mediaType
        self.usesStorageClass = usesStorageClass
    }
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
    public struct Entry: Sendable, Hashable {
        /// Its name below the store's prefix.
        public let key: BlobKey
        public let size: Int
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
