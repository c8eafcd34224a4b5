import JobQueue

extension WebhookStore {
    /// Sends a test event to an endpoint at once, even to a disabled one. The event is not retried and changes no state.
    ///
    /// - Returns: The result, as in the list of deliveries.
    /// - Throws: `noSuchEndpoint`, `damagedEndpoint`, `invalidSecret`, `redis`.
    package func test(
        _ id: String, through sender: WebhookSender
    ) async throws(WebhookError) -> WebhookDelivery {
        guard let stored = try await stored(id) else {
            throw WebhookError(
                .noSuchEndpoint, "queue \(queue) has no endpoint \(id.debugDescription).")
        }
        let event = WebhookEvent.test(endpoint: id, queue: queue, at: now())
        let outgoing = Outgoing(
            event: event.id, type: event.type, body: try event.json(), attempt: 1)
        let delivery = try await outgoing.send(to: stored, through: sender, now: now)
        try await remember(delivery, of: id)
        return delivery
    }
}
