import Edits
import Webhooks

extension Schemas {
    static var webhooks: [String: JSONValue] {
        [
            "Webhook": .fields([
                "id": .text, "owner": .anything, "url": .text, "eventTypes": .list(.text),
                "state": .choice(["active", "disabled"]),
                "reason?": .choice(WebhookEndpoint.Reason.allCases.map(\.rawValue)),
                "since?": .integer(0...Int(1e15)), "createdAt": .integer(0...Int(1e15)),
            ]),
            "WebhookRequest": .fields(
                ["url": webhookURL, "eventTypes?": webhookTypes], isClosed: true),
            "WebhookChange": .fields(
                [
                    "url?": webhookURL, "eventTypes?": webhookTypes,
                    "state?": .choice(["active", "disabled"]),
                ], isClosed: true),
            "WebhookReplay": .fields(["since": .anything], isClosed: true),
            "WebhookDelivery": .fields([
                "at": .integer(0...Int(1e15)), "message": .text, "event": .text,
                "entry?": .text, "type": .text, "attempt": .integer(1...Int(1e6)),
                "status?": .integer(100...999),
                "milliseconds": .integer(0...Int(1e9)), "error?": .text,
                "retryAfter?": .integer(0...Int(UInt32.max)), "retryAt?": .integer(0...Int(1e15)),
            ]),
        ]
    }

    private static let webhookURL = JSONValue.text(1...WebhookURL.bytesMax)
    /// Names of event types, with or without `org.minilab.`.
    private static let webhookTypes = JSONValue.list(.text, max: WebhookBody.typesMax)
}
