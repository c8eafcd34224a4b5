package import Edits
import JobQueue

/// Messages to an endpoint that a client asks for: a test, and one more of a delivery.
///
/// Each is sent at once, even to a disabled endpoint. It is not retried and does not move the cursor.
package struct WebhookTrials: Sendable {
    private let store: WebhookStore
    private let sender: WebhookSender

    package init(_ store: WebhookStore, through sender: WebhookSender) {
        self.store = store
        self.sender = sender
    }

    /// Sends a test event, which changes no state.
    ///
    /// - Returns: The result, as in the list of deliveries.
    /// - Throws: `noSuchEndpoint`, `damagedEndpoint`, `invalidSecret`, `redis`.
    package func test(_ id: String) async throws(WebhookError) -> WebhookDelivery {
        let stored = try await store.stored(id)
        let event = WebhookEvent.test(endpoint: id, queue: store.queue, at: store.now())
        return try await send(
            Outgoing(event: event.id, type: event.type, body: try event.json(), attempt: 1),
            to: stored)
    }

    /// Sends a message once more, under its own `webhook-id`.
    ///
    /// - Parameters:
    ///   - message: The `webhook-id`, as in the list of deliveries.
    ///   - view: Returns the part of the event that the owner may see.
    /// - Returns: The result, as in the list of deliveries.
    /// - Throws: `noSuchEndpoint`, `noSuchDelivery`, `eventGone`, `damagedEndpoint`, `invalidSecret`, `redis`.
    package func redeliver(
        _ id: String, message: String,
        view: (_ owner: WebhookOwner, _ json: String, _ event: JobEvent) -> String?
    ) async throws(WebhookError) -> WebhookDelivery {
        let stored = try await store.stored(id)
        let tries = try await store.deliveries(id).filter { $0.message == message }
        guard let last = tries.first, let first = tries.last else {
            throw WebhookError(
                .noSuchDelivery,
                "endpoint \(id) has no delivery \(String(message.prefix(80)).debugDescription) among its last "
                    + "\(WebhookDelivery.rememberedMax); replay since a time instead.")
        }
        let kept: EventReader.Entry?
        if let entry = last.entry {
            kept = try await store.event(at: entry, of: stored.endpoint.owner.tenant)
        } else {
            kept = try await store.event(named: last.event, notAfter: first.at)
        }
        guard let found = kept,
            let json = view(stored.endpoint.owner, found.json, found.event)
        else {
            throw WebhookError(
                .eventGone,
                "event \(last.event) is not kept any more; replay since a time instead.")
        }
        return try await send(
            Outgoing(
                event: last.event, entry: found.id, type: last.type, body: Array(json.utf8),
                attempt: last.attempt + 1), to: stored)
    }

    private func send(
        _ outgoing: Outgoing, to stored: StoredEndpoint
    ) async throws(WebhookError) -> WebhookDelivery {
        let delivery = try await outgoing.send(to: stored, through: sender, now: store.now)
        try await store.remember(delivery, of: stored.endpoint.id)
        return delivery
    }
}
