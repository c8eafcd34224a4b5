import AccessKeys
package import Edits

/// An error of webhooks: an endpoint could not be created, found or changed, or an address is refused.
package typealias WebhookError = CodedError<WebhookErrorCode>

package enum WebhookErrorCode: RecordErrorCode, CaseIterable {
    package static let isShown = true
    package static let damaged = damagedEndpoint

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
