package import Redis

/// Why a key is not taken, or could not be made, found or changed.
package struct KeyError: Error, Sendable, CustomStringConvertible {
    /// The kind.
    package enum Code: String, Sendable, CaseIterable {
        /// The text is no key: mistyped, cut off or something else.
        case malformedKey
        /// No key has this id and secret.
        case unknownKey
        /// The key's time is over.
        case expiredKey
        /// The key was taken back.
        case revokedKey
        /// A newer minilab made the key, with terms that this one does not know.
        case laterFormat
        /// Redis has not been heard for so long that a key may have been revoked meanwhile.
        case keysUnavailable
        /// A key's terms are not allowed.
        case invalidTerms
        /// An id does not fit behind the key's tenant.
        case idTooLong
        /// The queue has as many keys as it may have.
        case tooManyKeys
        /// The record of a key was changed by others again and again.
        case contended
        /// The record of a key is no record.
        case damagedKey
        /// Redis could not be reached or refused.
        case redis
    }

    /// The kind.
    package let code: Code
    /// The sentence for people; never has a secret in it.
    package let message: String
    /// The cause, where it was Redis.
    package let cause: RedisError?

    init(_ code: Code, _ message: String, cause: RedisError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
