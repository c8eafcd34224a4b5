/// Why a call to an object store gave its caller nothing to use.
///
/// Switch on ``code``; show ``message`` to people. Failures that may pass were tried again already,
/// so a call that failed with ``Code/unavailable`` or ``Code/throttled`` wants patience, not a loop.
public struct BlobError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure, a closed set.
    public enum Code: String, Sendable, CaseIterable {
        /// The text is not an address of a store; the configuration is at fault.
        case invalidURL
        /// A setting or a file that it names cannot be used.
        case invalidConfiguration
        /// The caller asked for what no store can do: a key too long, a part too many.
        case invalid
        /// There is no object of that key.
        case notFound
        /// The condition of a write does not hold, and nothing was written.
        case precondition
        /// The object is not the one whose tag was given.
        case changed
        /// The store refused the credentials or their rights.
        case denied
        /// No credentials were found, or their source did not give any.
        case noCredentials
        /// Bucket, region, endpoint or TLS do not fit the store; people have to mend it.
        case misconfigured
        /// The store does not keep the conditions that the library rests on.
        case conditionsIgnored
        /// The store asked for fewer requests, and still did after every retry.
        case throttled
        /// The store did not answer, or answered that it cannot at present.
        case unavailable
        /// A write may have happened: read before you judge.
        case unknownFate
        /// Bytes differ from their checksum, or an answer is not what the protocol says.
        case corrupt
        /// The store has no room left.
        case full
        /// The caller's source or sink failed; the error is in ``BlobError/underlying``.
        case local
        /// The calling task was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let code: Code

    /// A sentence: what failed, with which value, what was expected and what to do; never a secret.
    public let message: String

    /// The store's own code, such as `NoSuchBucket`; nil where it gave none.
    public let storeCode: String?

    /// The caller's own error (``Code/local``).
    public let underlying: (any Error)?

    init(
        _ code: Code, _ message: String, storeCode: String? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.storeCode = storeCode
        self.underlying = underlying
    }

    /// The message, for logs and interpolation.
    public var description: String { message }
}
