public import NIOCore

/// Objects by name, written whole, with two conditions: absent, and unchanged.
///
/// The library rests on no more than this. Of a write that throws nobody knows more than its code
/// says: after ``BlobError/Code/unknownFate`` and ``BlobError/Code/cancelled`` read before you judge.
public protocol BlobStore: Sendable {
    /// Describes the object of that name; throws ``BlobError/Code/notFound`` if there is nothing.
    func head(_ key: BlobKey) async throws(BlobError) -> Blob

    /// Reads an object, or a range of it, and hands its bytes on in order.
    ///
    /// A connection that breaks is taken up again where it broke, from the same content or not at
    /// all. `sink` must not call the store: it holds one of its places.
    ///
    /// - Parameters:
    ///   - range: The bytes to read; nil means all. Must begin within the object.
    ///   - tag: The content that is meant; another one is ``BlobError/Code/changed``.
    ///   - sink: Takes the next bytes; an error of its ends the call as ``BlobError/Code/local``.
    /// - Returns: The description of the whole object.
    @discardableResult
    func get(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob

    /// Reads an object, or a range of it, into memory.
    ///
    /// - Parameter limit: The most bytes; more are ``BlobError/Code/invalid``.
    func bytes(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?, atMost limit: Int
    ) async throws(BlobError) -> BlobBytes

    /// Writes an object whole: afterwards all readers see all of it, or the one before.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 of `source`, which the store compares.
    ///   - condition: Only on objects that are written by one request.
    @discardableResult
    func put(
        _ key: BlobKey, _ source: BlobSource, digest: BlobDigest, if condition: BlobCondition,
        _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag

    /// Makes `target` an object with the content that `key` has under `tag`, without its bytes coming here.
    @discardableResult
    func copy(
        _ key: BlobKey, _ tag: BlobTag, to target: BlobKey, _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag

    /// Removes objects; those that were not there are removed, too.
    ///
    /// - Returns: The objects that are still there, each with the reason.
    func delete(_ keys: [BlobKey]) async throws(BlobError) -> [BlobKey: BlobError]

    /// The next objects whose keys begin with `prefix`, in the store's order.
    ///
    /// That is the order of the keys' bytes, or that of a tree of folders, which SeaweedFS is: there `a/b` comes before
    /// `a-b`. Either way a page goes on where the one before ended.
    ///
    /// - Parameter after: Where to go on: a key, of an object or of none. Nil means the beginning.
    func list(_ prefix: String, after: BlobKey?) async throws(BlobError) -> BlobPage

    /// A URL that anybody may read the object from for that time; at most seven days.
    func link(_ key: BlobKey, for time: Duration) async throws(BlobError) -> BlobLink
}

/// A URL that needs no credentials, until it ends.
public struct BlobLink: Sendable, Hashable {
    /// The longest time that one may hold. Source: SigV4, `X-Amz-Expires`.
    public static let timeMax = Duration.seconds(7 * 86_400)

    /// The URL; as good as a password for its object.
    public let url: String

    /// When it ends: earlier than was asked for where the credentials end.
    public let expires: BlobTime
}

extension BlobStore {
    /// Writes an object whatever is there.
    @discardableResult
    public func put(
        _ key: BlobKey, _ bytes: [UInt8], if condition: BlobCondition = .always,
        _ attributes: BlobAttributes = BlobAttributes()
    ) async throws(BlobError) -> BlobTag {
        try await put(
            key, .bytes(bytes), digest: BlobDigest(of: bytes), if: condition, attributes)
    }
}
