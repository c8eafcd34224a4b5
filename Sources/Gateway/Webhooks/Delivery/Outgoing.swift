import Edits
import FoundationEssentials
import Telemetry
import Tracing

/// A message that is being sent to one endpoint.
struct Outgoing: Sendable {
    /// The event's CloudEvents id.
    let event: String
    let type: String
    /// The CloudEvent in JSON.
    let body: [UInt8]
    /// The number of the attempt, from 1.
    let attempt: Int
    /// The event's place in a trace, if it has one.
    var traceparent: Traceparent?

    /// Signs and sends it; as a part of its event's trace, if that is in one, which the receiver may carry on.
    ///
    /// - Throws: `invalidSecret`.
    func send(
        to stored: StoredEndpoint, through sender: WebhookSender,
        now: @escaping @Sendable () -> Int
    ) async throws(WebhookError) -> WebhookDelivery {
        guard let traceparent else {
            return try await deliver(to: stored, through: sender, now: now)
        }
        let attributes: SpanAttributes = [
            "http.request.method": "POST", "minilab.webhook": .string(stored.endpoint.id),
            "cloudevents.event_id": .string(event), "cloudevents.event_type": .string(type),
            "http.request.resend_count": .int64(Int64(attempt - 1)),
        ]
        return try await inSpan("POST", .client, in: .following(traceparent), with: attributes) {
            span throws(WebhookError) in
            let delivery = try await deliver(to: stored, through: sender, now: now)
            if let status = delivery.status {
                span.attributes["http.response.status_code"] = status
            }
            if !delivery.isAccepted { span.setStatus(SpanStatus(code: .error)) }
            return delivery
        }
    }

    private func deliver(
        to stored: StoredEndpoint, through sender: WebhookSender, now: @Sendable () -> Int
    ) async throws(WebhookError) -> WebhookDelivery {
        let begin = now()
        let message = SignedMessage(
            id: SignedMessage.id(event: event, endpoint: stored.endpoint.id), body: body,
            seconds: begin / 1000, secrets: try stored.signing(at: begin),
            traceparent: traceparent == nil ? nil : ServiceContext.current?.traceparent)
        let start = ContinuousClock.now
        let answer = await sender.send(
            message, to: stored.endpoint.url, of: stored.endpoint.owner.share)
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
