/// The error of a call to an object store.
///
/// Switch on ``code``; show ``message`` to people. Failures that may be temporary were already
/// retried, so after ``Code/unavailable`` or ``Code/throttled`` wait, and do not retry in a loop.
public struct BlobError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure, a closed set.
    public enum Code: String, Sendable, CaseIterable {
        /// The text is not a valid address of a store. The configuration must be corrected.
        case invalidURL
        /// A setting, or a file that it names, cannot be used.
        case invalidConfiguration
        /// The caller's request exceeds what stores support: a key is too long, or there are too
        /// many parts.
        case invalid
        /// There is no object with that key.
        case notFound
        /// The condition of a write does not hold. Nothing was written.
        case precondition
        /// The object's tag differs from the given one.
        case changed
        /// The store refused the credentials, or they lack a right.
        case denied
        /// No credentials were found, or their source returned none.
        case noCredentials
        /// Bucket, region, endpoint or TLS do not match the store. An operator must correct them.
        case misconfigured
        /// The store ignores the conditional writes that the library depends on.
        case conditionsIgnored
        /// The store asked for fewer requests, even after all retries.
        case throttled
        /// The store did not answer, or reported that it is temporarily unavailable.
        case unavailable
        /// A write may have taken effect. Read the object to find out.
        case unknownFate
        /// Bytes differ from their checksum, or an answer violates the protocol.
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

    /// A sentence that names the failure, the value, the expectation and the remedy; never a
    /// secret.
    public let message: String

    /// The store's own code, such as `NoSuchBucket`; nil if it gave none.
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
