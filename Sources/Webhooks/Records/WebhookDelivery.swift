/// How one try to deliver a message ended: what an owner sees of it.
package struct WebhookDelivery: Sendable, Equatable, Codable {
    /// When it began, ms since 1970.
    package let at: Int
    /// `webhook-id` of the message.
    package let message: String
    /// The event's CloudEvents id.
    package let event: String
    /// The event's type.
    package let type: String
    /// 1 for the first try.
    package let attempt: Int
    /// The status of the answer; nil when none came.
    package let status: Int?
    /// How long it took, in ms.
    package let milliseconds: Int
    /// Why it failed; nil when it did not. A sentence of ours: nothing of the answer's body is in it.
    package let error: String?
    /// How long the endpoint asked not to be tried again, in s; nil when it did not.
    let retryAfter: Int?
    /// When the message is sent again, ms since 1970; nil when it is not.
    package var retryAt: Int?

    /// Whether the endpoint took it.
    package var isTaken: Bool { error == nil }

    /// Longest error in bytes.
    static let errorBytesMax = 300
}
