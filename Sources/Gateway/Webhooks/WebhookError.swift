package import Redis

/// An error of webhooks: an endpoint could not be created, found or changed, or an address is refused.
package struct WebhookError: Error, Sendable, CustomStringConvertible {
    /// The kind.
    package enum Code: String, Sendable, CaseIterable {
        /// The URL does not have the permitted form.
        case invalidURL
        /// The URL leads to an address or port that is not permitted.
        case refusedAddress
        /// The URL's host has no address.
        case unknownHost
        /// A name is not a kind of event, or there are none or too many.
        case invalidEventTypes
        /// A range of addresses does not have the permitted form.
        case invalidRange
        /// The secret does not have the permitted form.
        case invalidSecret
        /// The time is not permitted.
        case invalidTime
        /// No endpoint has this id.
        case noSuchEndpoint
        /// No remembered delivery has this id.
        case noSuchDelivery
        /// The event stream does not hold the event any more.
        case eventGone
        /// The owner or the queue has the maximum number of endpoints.
        case tooManyEndpoints
        /// Other clients changed the record of an endpoint again and again.
        case contended
        /// The record of an endpoint cannot be decoded.
        case damagedEndpoint
        /// A newer minilab created the endpoint, with terms that this one does not know.
        case laterFormat
        /// Redis was unreachable or refused a command, or its reply is unexpected.
        case redis
    }

    /// The kind.
    package let code: Code
    /// The sentence for people; it contains no secret.
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
