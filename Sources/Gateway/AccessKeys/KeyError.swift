package import Redis

/// The error of a key that is not accepted, or that could not be created, found or changed.
package struct KeyError: Error, Sendable, CustomStringConvertible {
    /// The kind.
    package enum Code: String, Sendable, CaseIterable {
        /// The text is not a key: mistyped, truncated or something else.
        case malformedKey
        /// No key has this id and secret.
        case unknownKey
        /// The key has expired.
        case expiredKey
        /// The key was revoked.
        case revokedKey
        /// A newer minilab created the key, with terms that this one does not know.
        case laterFormat
        /// Redis has been unavailable for so long that a key may have been revoked meanwhile.
        case keysUnavailable
        /// A key's terms are not allowed.
        case invalidTerms
        /// An id is too long behind the key's tenant.
        case idTooLong
        /// The queue has the maximum number of keys.
        case tooManyKeys
        /// Other clients changed the record of a key again and again.
        case contended
        /// The record of a key cannot be decoded.
        case damagedKey
        /// Redis was unreachable or refused a command.
        case redis
    }

    /// The kind.
    package let code: Code
    /// The sentence for people; it never contains a secret.
    package let message: String
    /// The error of the Redis client, if it was the cause.
    package let cause: RedisError?

    init(_ code: Code, _ message: String, cause: RedisError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
