package import Redis

/// Why an endpoint of a webhook could not be made, found or changed, or an address is refused.
package struct WebhookError: Error, Sendable, CustomStringConvertible {
    /// The kind.
    package enum Code: String, Sendable, CaseIterable {
        /// The URL is not of the form that is allowed.
        case invalidURL
        /// The URL leads to an address or port where nothing may be sent.
        case refusedAddress
        /// The URL's host has no address.
        case unknownHost
        /// No kind of event has this name, or there are none or too many.
        case invalidEventTypes
        /// A range of addresses is not of the form that is allowed.
        case invalidRange
        /// The secret is not of the form that is allowed.
        case invalidSecret
        /// A time is not allowed.
        case invalidTime
        /// There is no endpoint of this id.
        case noSuchEndpoint
        /// There is no delivery of this id among those that are remembered.
        case noSuchDelivery
        /// The event stream does not hold the event any more.
        case eventGone
        /// The owner or the queue has as many endpoints as it may have.
        case tooManyEndpoints
        /// The record of an endpoint was changed by others again and again.
        case contended
        /// The record of an endpoint is no record.
        case damagedEndpoint
        /// A newer minilab made the endpoint, with terms that this one does not know.
        case laterFormat
        /// Redis could not be reached or refused, or its answer makes no sense.
        case redis
    }

    /// The kind.
    package let code: Code
    /// The sentence for people; has no secret in it.
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
