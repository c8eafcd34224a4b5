import FoundationEssentials

/// A message that is being sent to one endpoint.
struct Outgoing: Sendable {
    /// The event's CloudEvents id.
    let event: String
    let type: String
    /// The CloudEvent in JSON.
    let body: [UInt8]
    /// The number of the attempt, from 1.
    let attempt: Int

    /// Signs and sends the message.
    ///
    /// - Throws: `invalidSecret`.
    func send(
        to stored: StoredEndpoint, through sender: WebhookSender, now: @Sendable () -> Int
    ) async throws(WebhookError) -> WebhookDelivery {
        let begin = now()
        let message = SignedMessage(
            id: SignedMessage.id(event: event, endpoint: stored.endpoint.id), body: body,
            seconds: begin / 1000, secrets: try stored.signing(at: begin))
        let start = ContinuousClock.now
        let answer = await sender.send(message, to: stored.endpoint.url)
        return WebhookDelivery(
            at: begin, message: message.id, event: event, type: type, attempt: attempt,
            status: answer.status, milliseconds: (ContinuousClock.now - start).milliseconds,
            error: answer.error, retryAfter: answer.retryAfter)
    }
}

extension WebhookDelivery {
    /// - Throws: `damagedEndpoint`, which does not occur for any delivery.
    func json() throws(WebhookError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            throw WebhookError(
                .damagedEndpoint, "a delivery of \(event) cannot be written as JSON: \(error)")
        }
    }
}
