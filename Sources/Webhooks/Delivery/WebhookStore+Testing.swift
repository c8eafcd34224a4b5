import JobQueue

extension WebhookStore {
    /// Sends an endpoint a try at once, also one that is disabled; it is not repeated and changes no state.
    ///
    /// - Returns: how it ended, as the list of deliveries has it too.
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
