import Adjustments
import Webhooks

/// The schemas that routes name.
enum Schemas {
    static let all: [String: JSONValue] = [
        "ID": .text(
            1...ContractLimits.jobIDLengthMax, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$"),
        "Problem": .fields(
            [
                "type": .text, "title": .text, "status": .integer(400...599), "code": .text,
                "detail": .text, "pointer": .text, "line": .integer(1...Int(1e9)),
                "next": .integer(0...ContractLimits.batchJobsMax),
            ], required: ["type", "title", "status", "code", "detail"]),
        "Cancel": .fields(["reason": .text(1...1024)], required: ["reason"], isClosed: true),
        "Pause": .fields(["reason": .text(1...1024)], required: ["reason"], isClosed: true),
        "Limits": .fields(
            [
                "cap": .object([
                    "type": .array([.string("integer"), .string("null")]), "minimum": .number(0),
                    "maximum": .number(1_000_000),
                ]),
                "weight": .object([
                    "type": .array([.string("integer"), .string("null")]), "minimum": .number(1),
                    "maximum": .number(1_000_000),
                ]),
            ], isClosed: true),
        "Seal": .fields(
            [
                "jobs": .integer(1...ContractLimits.batchJobsMax),
                "cost": .integer(1...Int(1e15)),
            ], required: ["jobs"], isClosed: true),
        "BatchRequest": .fields(
            [
                "id": .schema("ID"), "edit": .anything, "tenant": .schema("ID"),
                "priority": .choice(Priority.allCases.map(\.rawValue)),
                "cost": .integer(1...ContractLimits.costMax),
                "cap": .integer(1...ContractLimits.batchJobsMax),
            ], required: ["id", "edit"], isClosed: true),
        "Batch": .fields(
            ["record": .anything, "rate": .object(["type": .string("number")])],
            required: ["record", "rate"]),
        "Member": .fields(
            [
                "asset": .text(1...ContractLimits.assetBytesMax), "edit": .anything,
                "cost": .integer(1...ContractLimits.costMax),
            ], required: ["asset"], isClosed: true),
        "MembersTaken": .fields(
            [
                "next": .integer(0...ContractLimits.batchJobsMax),
                "added": .integer(0...ContractLimits.batchJobsMax),
            ], required: ["next", "added"]),
        "Queue": .fields(["queue": .text, "status": .anything], required: ["queue", "status"]),
        "Job": .fields(
            [
                "id": .schema("ID"), "asset": .text(1...ContractLimits.assetBytesMax),
                "edit": .anything, "tenant": .schema("ID"),
                "priority": .choice(Priority.allCases.map(\.rawValue)),
                "cost": .integer(1...ContractLimits.costMax), "notBefore": .text,
                "deadline": .text, "replace": .choice(["waiting", "running"]),
            ], required: ["asset", "edit"], isClosed: true),
        "JobTaken": .fields(["job": .text, "state": .text], required: ["job", "state"]),
        "JobView": .fields(
            [
                "job": .text, "state": .text,
                "reason": .fields(["code": .text], required: ["code"]),
                "detail": .text,
            ], required: ["job", "state", "reason", "detail"]),
        "JobCancelled": .fields(
            ["job": .text, "answer": .choice(["cancelled", "stopping"])],
            required: ["job", "answer"]),
        "Replay": .fields(
            [
                "batch": .schema("ID"), "tenant": .schema("ID"), "codes": .list(.text),
                "since": .text, "until": .anything, "edit": .text(64...64),
                "rate": .integer(1...1_000_000), "withEdit": .anything, "dryRun": .flag,
                "expected": .integer(0...Int(1e12)),
            ], isClosed: true),
        "ReplayPreview": .fields(
            [
                "count": .integer(0...Int(1e12)), "isComplete": .flag,
                "until": .integer(0...Int(1e15)),
            ], required: ["count", "isComplete", "codes", "until", "sample"]),
        "ReplayOrder": .fields(
            ["id": .text, "state": .choice(["running", "stopped", "done"])],
            required: ["id", "state", "replayed", "refused", "expected"]),
        "Webhook": .fields(
            [
                "id": .text, "owner": .anything, "url": .text, "eventTypes": .list(.text),
                "state": .choice(["active", "disabled"]),
                "reason": .choice(WebhookEndpoint.Reason.allCases.map(\.rawValue)),
                "since": .integer(0...Int(1e15)), "createdAt": .integer(0...Int(1e15)),
            ], required: ["id", "owner", "url", "eventTypes", "state", "createdAt"]),
        "WebhookRequest": .fields(
            ["url": webhookURL, "eventTypes": webhookTypes], required: ["url"], isClosed: true),
        "WebhookChange": .fields(
            [
                "url": webhookURL, "eventTypes": webhookTypes,
                "state": .choice(["active", "disabled"]),
            ], isClosed: true),
        "WebhookReplay": .fields(["since": .anything], required: ["since"], isClosed: true),
        "WebhookDelivery": .fields(
            [
                "at": .integer(0...Int(1e15)), "message": .text, "event": .text, "type": .text,
                "attempt": .integer(1...Int(1e6)), "status": .integer(100...999),
                "milliseconds": .integer(0...Int(1e9)), "error": .text,
            ], required: ["at", "message", "event", "type", "attempt", "milliseconds"]),
        "Key": .fields(["id": .text], required: ["id"]),
        "KeyTerms": .fields(
            [
                "label": .text(0...200), "tenant": .schema("ID"), "assetPrefix": .text(0...1024),
                "scopes": .list(.choice(["enqueue", "read", "operate", "admin"])),
                "quotas": .anything, "corsOrigins": .list(.text, max: 16),
                "expiresAt": .integer(1...Int(2.5e14)),
            ], required: ["scopes"]),
    ]

    private static let webhookURL = JSONValue.text(1...WebhookURL.bytesMax)
    /// With or without `org.minilab.`.
    private static let webhookTypes = JSONValue.list(.text, max: WebhookBody.typesMax)
}
