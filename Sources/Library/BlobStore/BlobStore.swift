public import NIOCore

/// A store of named objects, which are written as a whole, under one of two conditions: absent,
/// and unchanged.
///
/// The library depends on nothing else. After a failed write only the error's code is certain:
/// after ``BlobError/Code/unknownFate`` and ``BlobError/Code/cancelled`` read the object to find
/// out its state.
public protocol BlobStore: Sendable {
    /// Describes the object with that name. Throws ``BlobError/Code/notFound`` if there is none.
    func head(_ key: BlobKey) async throws(BlobError) -> Blob

    /// Reads an object, or a range of it, and passes its bytes to a sink in order.
    ///
    /// After a lost connection reading continues at the same position, in the same content, or
    /// fails. `sink` must not call the store, because this call occupies one of its permits.
    ///
    /// - Parameters:
    ///   - range: The bytes to read, which must begin within the object; nil means all.
    ///   - tag: The expected content. Other content throws ``BlobError/Code/changed``.
    ///   - sink: Receives the next bytes. Its errors end the call with ``BlobError/Code/local``.
    /// - Returns: The description of the whole object.
    @discardableResult
    func get(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob

    /// Reads an object, or a range of it, into memory.
    ///
    /// - Parameter limit: The most bytes. More bytes throw ``BlobError/Code/invalid``.
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
