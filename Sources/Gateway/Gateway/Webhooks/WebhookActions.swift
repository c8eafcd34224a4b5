import AccessKeys
import Edits
import Hummingbird
import Webhooks

/// The changes of endpoints, shared by the API and the pages. Each one checks the owner and the target address, and
/// writes to the audit log.
enum WebhookActions {
    /// Returns the endpoints that the caller may see, the oldest first.
    static func list(_ call: Call) async throws -> [WebhookEndpoint] {
        let key = try call.key
        return try await call.parts.permits.reading(of: key) {
            try await call.parts.webhooks.store.list().filter { key.covers($0) }
        }
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
        try await call.parts.audit.note(
            "createWebhook", "\(made.endpoint.id): \(made.endpoint.url)", by: call.doer)
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
        try await call.parts.audit.note(
            "updateWebhook", "\(changed.id): \(changed.url)\(state)", by: call.doer)
        return changed
    }

    static func delete(_ call: Call) async throws {
        let id = try call.parameter("id")
        // Operators can also delete a record that cannot be parsed.
        if try !call.key.reach.isEverything { _ = try await find(call) }
        guard try await call.parts.webhooks.store.delete(id) else { throw unknown(id) }
        try await call.parts.audit.note("deleteWebhook", id, by: call.doer)
    }

    static func rotate(_ call: Call) async throws -> (WebhookEndpoint, WebhookSecret) {
        let endpoint = try await find(call)
        let secret = try await call.parts.webhooks.store.rotate(endpoint.id)
        try await call.parts.audit.note("rotateWebhook", endpoint.id, by: call.doer)
        return (endpoint, secret)
    }

    static func replay(since: Int, _ call: Call) async throws {
        let endpoint = try await find(call)
        try await call.parts.webhooks.store.replay(endpoint.id, since: since)
        try await call.parts.audit.note(
            "replayWebhook", "\(endpoint.id) since \(since)", by: call.doer)
    }

    static func test(_ call: Call) async throws -> WebhookDelivery {
        let webhooks = call.parts.webhooks
        let endpoint = try await find(call)
        let permit = try call.parts.permits.trial(of: try call.key)
        defer { permit.close() }
        return try await webhooks.store.test(endpoint.id, through: webhooks.sender)
    }

    static func redeliver(_ call: Call) async throws -> WebhookDelivery {
        let webhooks = call.parts.webhooks
        let endpoint = try await find(call)
        let message = try call.parameter("message")
        let permit = try call.parts.permits.trial(of: try call.key)
        defer { permit.close() }
        let delivery = try await webhooks.store.redeliver(
            endpoint.id, message: message, through: webhooks.sender, view: webhooks.view)
        try await call.parts.audit.note(
            "replayWebhook", "\(endpoint.id): \(delivery.event)", by: call.doer)
        return delivery
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(.notFound, "There is no webhook \(String(id.prefix(80)).debugDescription).")
    }
}
