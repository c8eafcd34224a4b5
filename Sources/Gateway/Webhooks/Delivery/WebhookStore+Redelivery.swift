package import Edits
import JobQueue
import Redis

extension WebhookStore {
    /// The maximum number of events before a delivery's first attempt that are searched for its event: some 5 MB.
    static let redeliveryEventsMax = 10_000
    /// The number of events of one read.
    private static let redeliveryPage = 500

    /// Sends a message once more at once, under its own `webhook-id`, even to a disabled endpoint. The message is not retried and
    /// does not move the cursor.
    ///
    /// - Parameters:
    ///   - message: The `webhook-id`, as in the list of deliveries.
    ///   - view: Returns the part of the event that the owner may see.
    /// - Returns: The result, as in the list of deliveries.
    /// - Throws: `noSuchEndpoint`, `noSuchDelivery`, `eventGone`, `damagedEndpoint`, `invalidSecret`, `redis`.
    package func redeliver(
        _ id: String, message: String, through sender: WebhookSender,
        view: (_ owner: WebhookOwner, _ json: String, _ event: JobEvent) -> String?
    ) async throws(WebhookError) -> WebhookDelivery {
        let stored = try await stored(id)
        let tries = try await deliveries(id).filter { $0.message == message }
        guard let last = tries.first, let first = tries.last else {
            throw WebhookError(
                .noSuchDelivery,
                "endpoint \(id) has no delivery \(String(message.prefix(80)).debugDescription) among its last "
                    + "\(DeliveryTurn.outcomesMax); replay since a time instead.")
        }
        guard let found = try await event(named: last.event, notAfter: first.at),
            let json = view(stored.endpoint.owner, found.json, found.event)
        else {
            throw WebhookError(
                .eventGone,
                "event \(last.event) is not among the \(Self.redeliveryEventsMax) events before its delivery that the "
                    + "stream still holds; replay since a time instead.")
        }
        let outgoing = Outgoing(
            event: last.event, type: last.type, body: Array(json.utf8), attempt: last.attempt + 1)
        let delivery = try await outgoing.send(to: stored, through: sender, now: now)
        try await remember(delivery, of: id)
        return delivery
    }

    /// Returns the newest entry of the event stream with a CloudEvents id, added no later than a time in ms since 1970.
    private func event(
        named name: String, notAfter time: Int
    ) async throws(WebhookError) -> EventReader.Entry? {
        var position = "\(time)"
        for _ in 0..<Self.redeliveryEventsMax / Self.redeliveryPage {
            let rows =
                try await send([
                    "XREVRANGE", RedisArgument(queue.keys.events), RedisArgument(position), "-",
                    "COUNT", RedisArgument(Self.redeliveryPage),
                ]).array ?? []
            for event in rows.lazy.compactMap(entry) where event.event.id == name {
                return event
            }
            guard rows.count == Self.redeliveryPage, let id = rows.last?.array?.first?.string else {
                return nil
            }
            position = "(\(id)"
        }
        return nil
    }

    /// Adds a delivery at the front of the list.
    func remember(_ delivery: WebhookDelivery, of id: String) async throws(WebhookError) {
        let list = RedisArgument(queue.gatewayKeys.webhook(id, "deliveries"))
        _ = try await send(["LPUSH", list, RedisArgument(try delivery.json())])
        _ = try await send(["LTRIM", list, "0", RedisArgument(DeliveryTurn.outcomesMax - 1)])
    }

    /// Sends a test event to an endpoint at once, even to a disabled one. The event is not retried and changes no state.
    ///
    /// - Returns: The result, as in the list of deliveries.
    /// - Throws: `noSuchEndpoint`, `damagedEndpoint`, `invalidSecret`, `redis`.
    package func test(
        _ id: String, through sender: WebhookSender
    ) async throws(WebhookError) -> WebhookDelivery {
        let stored = try await stored(id)
        let event = WebhookEvent.test(endpoint: id, queue: queue, at: now())
        let outgoing = Outgoing(
            event: event.id, type: event.type, body: try event.json(), attempt: 1)
        let delivery = try await outgoing.send(to: stored, through: sender, now: now)
        try await remember(delivery, of: id)
        return delivery
    }
}
