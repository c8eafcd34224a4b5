import AccessKeys
import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Webhooks

/// The routes of webhooks. A webhook is an endpoint that receives events as messages.
enum WebhookRoutes {
    private static let id = Route.Parameter.path("id", "The endpoint.")

    static let routes: [Route] = [
        Route(
            .get, "/v1/webhooks", .key(.enqueue), name: "listWebhooks", group: "webhooks",
            "The endpoints, without their secrets.",
            answers: [
                .init(
                    .ok, "The endpoints, the oldest first.",
                    .fields(["webhooks": .list(.schema("Webhook"))]))
            ]
        ) { call in try .json(["webhooks": try await WebhookActions.list(call)]) },
        Route(
            .post, "/v1/webhooks", .key(.enqueue), name: "createWebhook", group: "webhooks",
            "Creates an endpoint, which receives later events of its eventTypes: without any, job.failed and batch.completed alone. Its secret is in this response only.",
            body: .json(.schema("WebhookRequest")),
            answers: [
                .init(
                    .created, "The endpoint and its secret.",
                    .fields(["webhook": .schema("Webhook"), "secret": .text]),
                    headers: ["Location"])
            ], problems: [.conflict], handle: create),
        Route(
            .get, "/v1/webhooks/{id}", .key(.enqueue), name: "readWebhook", group: "webhooks",
            "An endpoint.", parameters: [id],
            answers: [.init(.ok, "The endpoint.", .schema("Webhook"))]
        ) { call in try .json(try await WebhookActions.find(call)) },
        Route(
            .patch, "/v1/webhooks/{id}", .key(.enqueue), name: "updateWebhook", group: "webhooks",
            "Changes, disables or enables an endpoint. Omitted fields keep their values.",
            parameters: [id], body: .json(.schema("WebhookChange")),
            answers: [.init(.ok, "The endpoint.", .schema("Webhook"))]
        ) { call in
            let body = try await body(call) { json throws(Failure) in
                try WebhookBody(json, known: ["url", "eventTypes", "state"])
            }
            return try .json(
                try await WebhookActions.update(
                    url: body.url, eventTypes: body.eventTypes, isActive: body.isActive, call))
        },
        Route(
            .delete, "/v1/webhooks/{id}", .key(.enqueue), name: "deleteWebhook", group: "webhooks",
            "Removes an endpoint with all that waits for it.", parameters: [id],
            answers: [.empty(.noContent, "It is removed.")]
        ) { call in
            try await WebhookActions.delete(call)
            return Response(status: .noContent)
        },
        Route(
            .post, "/v1/webhooks/{id}/test", .key(.enqueue), name: "testWebhook",
            group: "webhooks", "Sends a test message at once and returns the endpoint's answer.",
            parameters: [id],
            answers: [.init(.ok, "How it ended.", .schema("WebhookDelivery"))]
        ) { call in try .json(try await WebhookActions.test(call)) },
        Route(
            .post, "/v1/webhooks/{id}/rotate", .key(.enqueue), name: "rotateWebhook",
            group: "webhooks",
            "Creates a new secret. For one day, messages are signed with both secrets.",
            parameters: [id],
            answers: [
                .init(.ok, "The secret.", .fields(["secret": .text]))
            ]
        ) { call in try .json(["secret": try await WebhookActions.rotate(call).1.revealed]) },
        Route(
            .post, "/v1/webhooks/{id}/replay", .key(.enqueue), name: "replayWebhook",
            group: "webhooks",
            "Sends the events since a time again, with the same ids.",
            parameters: [id], body: .json(.schema("WebhookReplay")),
            answers: [
                .init(
                    .accepted, "It is on its way.",
                    .fields(["since": .integer(0...Int(1e15))]))
            ]
        ) { call in
            let now = Date(timeIntervalSince1970: Double(try await call.parts.queue.now()) / 1000)
            let since = try await body(call) { json throws(Failure) in
                try WebhookBody.since(json, now)
            }
            try await WebhookActions.replay(since: since, call)
            return try .json(["since": since], status: .accepted)
        },
        Route(
            .get, "/v1/webhooks/{id}/deliveries", .key(.enqueue), name: "listDeliveries",
            group: "webhooks", "The last tries to deliver, the newest first.", parameters: [id],
            answers: [
                .init(
                    .ok, "The deliveries.",
                    .fields(["deliveries": .list(.schema("WebhookDelivery"))]))
            ]
        ) { call in
            let endpoint = try await WebhookActions.find(call)
            return try .json([
                "deliveries": try await call.parts.webhooks.store.deliveries(endpoint.id)
            ])
        },
        Route(
            .post, "/v1/webhooks/{id}/deliveries/{message}/replay", .key(.enqueue),
            name: "redeliver", group: "webhooks",
            "Sends one message again at once and returns the endpoint's answer.",
            parameters: [id, .path("message", "The webhook-id of the message.")],
            answers: [.init(.ok, "How it ended.", .schema("WebhookDelivery"))], problems: [.gone]
        ) { call in try .json(try await WebhookActions.redeliver(call)) },
    ]

    private struct Made: Encodable {
        let webhook: WebhookEndpoint
        let secret: String
    }

    private static func create(_ call: Call) async throws -> Response {
        let body = try await body(call) { json throws(Failure) in
            let body = try WebhookBody(json, known: ["url", "eventTypes"])
            if body.url == nil {
                throw Failure(
                    .missingField,
                    "webhook.url is missing; expected the URL to which messages are sent.")
            }
            return body
        }
        let (webhook, secret) = try await WebhookActions.create(
            url: body.url ?? "", eventTypes: body.eventTypes ?? [], call)
        return try .json(
            Made(webhook: webhook, secret: secret.revealed), status: .created,
            headers: [.location: "/v1/webhooks/\(webhook.id)"])
    }

    /// Parses the body; its faults have JSON pointers.
    private static func body<Body>(
        _ call: Call, _ read: (JSONValue) throws(Failure) -> Body
    ) async throws -> Body {
        let text = try await call.text(atMost: call.parts.settings.bodyBytesMax)
        return try await call.inTurn(text.utf8.count) {
            do throws(Failure) {
                return try read(JSONValue(parsing: text, as: "the body"))
            } catch {
                throw Problem(error, in: text, roots: ["webhook"])
            }
        }
    }
}

/// The changes of endpoints, shared by the API and the pages. Each one checks the owner and the target address, and
/// writes to the audit log.
enum WebhookActions {
    /// Returns the endpoints that the caller may see, the oldest first.
    static func list(_ call: Call) async throws -> [WebhookEndpoint] {
        let key = try call.key
        let endpoints = try await call.parts.webhooks.store.list { decode in
            try await call.parts.permits.reading(of: key) { decode() }
        }
        return endpoints.filter { key.covers($0) }
    }

    /// Returns the endpoint that the path names.
    ///
    /// - Throws: `notFound`, also for an endpoint of another owner.
    static func find(_ call: Call) async throws -> WebhookEndpoint {
        let id = try call.parameter("id")
        guard let endpoint = try await call.parts.webhooks.store.get(id),
            try call.key.covers(endpoint)
        else { throw unknown(id) }
        return endpoint
    }

    static func create(
        url: String, eventTypes: [String], _ call: Call
    ) async throws -> (endpoint: WebhookEndpoint, secret: WebhookSecret) {
        let key = try call.key
        try await call.parts.webhooks.sender.check(url, of: key.owner)
        let made = try await call.parts.webhooks.store.create(
            owner: key.webhookOwner, url: url, eventTypes: eventTypes)
        try await call.note("createWebhook", "\(made.endpoint.id): \(try WebhookURL(url).logged)")
        return made
    }

    static func update(
        url: String? = nil, eventTypes: [String]? = nil, isActive: Bool? = nil, _ call: Call
    ) async throws -> WebhookEndpoint {
        let endpoint = try await find(call)
        if let url {
            try await call.parts.webhooks.sender.check(url, of: endpoint.owner.share)
        }
        let changed = try await call.parts.webhooks.store.update(
            endpoint.id, url: url, eventTypes: eventTypes, isActive: isActive)
        // A change that changes nothing is no deed.
        guard changed != endpoint else { return changed }
        let state = isActive.map { $0 ? ", active" : ", disabled" } ?? ""
        try await call.note(
            "updateWebhook", "\(changed.id): \(try WebhookURL(changed.url).logged)\(state)")
        return changed
    }

    static func delete(_ call: Call) async throws {
        let id = try call.parameter("id")
        // Operators can also delete a record that cannot be parsed.
        if try !call.key.reach.isEverything { _ = try await find(call) }
        guard try await call.parts.webhooks.store.delete(id) else { throw unknown(id) }
        try await call.note("deleteWebhook", id)
    }

    static func rotate(_ call: Call) async throws -> (WebhookEndpoint, WebhookSecret) {
        let endpoint = try await find(call)
        let secret = try await call.parts.webhooks.store.rotate(endpoint.id)
        try await call.note("rotateWebhook", endpoint.id)
        return (endpoint, secret)
    }

    static func replay(since: Int, _ call: Call) async throws {
        let endpoint = try await find(call)
        try await call.parts.webhooks.store.replay(endpoint.id, since: since)
        try await call.note("replayWebhook", "\(endpoint.id) since \(since)")
    }

    static func test(_ call: Call) async throws -> WebhookDelivery {
        let endpoint = try await find(call)
        let permit = try call.parts.permits.trial(of: try call.key)
        defer { permit.close() }
        return try await call.parts.webhooks.trials.test(endpoint.id)
    }

    static func redeliver(_ call: Call) async throws -> WebhookDelivery {
        let webhooks = call.parts.webhooks
        let endpoint = try await find(call)
        let message = try call.parameter("message")
        let permit = try call.parts.permits.trial(of: try call.key)
        defer { permit.close() }
        let delivery = try await webhooks.trials.redeliver(
            endpoint.id, message: message, view: webhooks.view)
        try await call.note("replayWebhook", "\(endpoint.id): \(delivery.event)")
        return delivery
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(.notFound, "There is no webhook \(String(id.prefix(80)).debugDescription).")
    }
}
