/// The result of one attempt to deliver a message, as its owner may see it.
package struct WebhookDelivery: Sendable, Equatable, Codable {
    /// The start of the attempt, ms since 1970.
    package let at: Int
    /// `webhook-id` of the message.
    package let message: String
    /// The event's CloudEvents id.
    package let event: String
    /// The event's type.
    package let type: String
    /// The number of the attempt, from 1.
    package let attempt: Int
    /// The status of the response; nil if there was none.
    package let status: Int?
    /// The duration, in ms.
    package let milliseconds: Int
    /// The reason of the failure; nil if it succeeded. The sentence contains nothing of the response's body.
    package let error: String?
    /// The delay that the endpoint requested, in s; nil if it requested none.
    let retryAfter: Int?
    /// The time of the next attempt, ms since 1970; nil if there is none.
    package var retryAt: Int?

    /// Whether the endpoint accepted the message.
    package var isAccepted: Bool { error == nil }

    /// The maximum length of an error, in bytes.
    static let errorBytesMax = 300
}
