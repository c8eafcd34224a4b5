import Edits
import FoundationEssentials

/// The secret that signs messages to an endpoint: `whsec_` and base64 of 24 to 64 bytes (Standard Webhooks). Descriptions
/// do not show it.
package struct WebhookSecret: Sendable, Equatable {
    private let bytes: [UInt8]

    private static let prefix = "whsec_"
    static let bytesRange = 24...64
    static let bytesMade = 32

    /// Creates a secret from the kernel's random numbers.
    package init() {
        var generator = SystemRandomNumberGenerator()
        bytes = (0..<Self.bytesMade).map { _ in .random(in: .min ... .max, using: &generator) }
    }

    /// - Throws: `invalidSecret`; the message does not repeat the text.
    package init(_ text: String) throws(WebhookError) {
        guard text.hasPrefix(Self.prefix),
            let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.bytesRange.contains(data.count)
        else {
            throw WebhookError(
                .invalidSecret,
                "the secret is not whsec_ and base64 of \(Self.bytesRange.lowerBound) to "
                    + "\(Self.bytesRange.upperBound) bytes.")
        }
        bytes = Array(data)
    }

    /// The whole text, which the endpoint's owner receives once.
    package var revealed: String { Self.prefix + Data(bytes).base64EncodedString() }

    /// Returns the HMAC-SHA256 of a text in base64.
    func signature(of text: some Sequence<UInt8>) -> String {
        Data(HMAC.sha256(of: text, key: bytes)).base64EncodedString()
    }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { Self.prefix + "…" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

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
