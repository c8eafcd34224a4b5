import Edits

/// A message of Standard Webhooks: a body with an id, a time and a signature by each secret.
///
/// The id is the same on every retry and on every gateway, so that a receiver can drop repeats. Source:
/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>.
package struct SignedMessage: Sendable {
    /// `msg_` and 32 digits.
    package let id: String
    /// The CloudEvent in JSON.
    package let body: [UInt8]
    /// `webhook-id`, `webhook-timestamp`, `webhook-signature`, `content-type`, perhaps `traceparent`.
    package let headers: [(name: String, value: String)]

    /// - Parameters:
    ///   - id: as ``id(event:endpoint:)`` makes it.
    ///   - seconds: when it is sent, since 1970.
    ///   - secrets: 1 or 2.
    ///   - traceparent: the trace that the receiver may carry on; not signed.
    init(
        id: String, body: [UInt8], seconds: Int, secrets: [WebhookSecret],
        traceparent: Traceparent? = nil
    ) {
        self.id = id
        self.body = body
        let signed = Array("\(id).\(seconds).".utf8) + body
        headers =
            [
                ("content-type", "application/cloudevents+json; charset=utf-8"),
                ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
                (
                    "webhook-signature",
                    secrets.map { "v1,\($0.signature(of: signed))" }.joined(separator: " ")
                ),
            ] + (traceparent.map { [("traceparent", "\($0)")] } ?? [])
    }

    /// Returns the id of an event's message to an endpoint. It is a hash, because event ids may contain dots, which end the id
    /// in the signed text.
    static func id(event: String, endpoint: String) -> String {
        let digest = SHA256.hash(data: "\(endpoint)\n\(event)".utf8)
        return "msg_"
            + digest.prefix(16).hex
    }
}
