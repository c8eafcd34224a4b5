import AccessKeys
package import Edits
import JobQueue
import Redis

extension WebhookStore {
    /// The maximum number of events before a delivery's first attempt that are searched for its event, if an earlier release recorded it:
    /// some 5 MB.
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
        let kept: EventReader.Entry?
        if let entry = last.entry {
            kept = try await event(at: entry, of: stored.endpoint.owner.tenant)
        } else {
            kept = try await event(named: last.event, notAfter: first.at)
        }
        guard let found = kept,
            let json = view(stored.endpoint.owner, found.json, found.event)
        else {
            throw WebhookError(
                .eventGone,
                "event \(last.event) is not kept any more; replay since a time instead.")
        }
        let outgoing = Outgoing(
            event: last.event, entry: found.id, type: last.type, body: Array(json.utf8),
            attempt: last.attempt + 1)
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

    /// Adds a delivery at the front of the list of an endpoint that was not removed meanwhile.
    func remember(_ delivery: WebhookDelivery, of id: String) async throws(WebhookError) {
        try await run(
            Self.rememberScript, [queue.gatewayKeys.webhook(id, "deliveries")],
            [
                RedisArgument(id), RedisArgument(try delivery.json()),
                RedisArgument(DeliveryTurn.outcomesMax),
            ])
    }

    private static let rememberScript = RedisScript(
        name: "remember_delivery",
        source: """
            #!lua flags=allow-oom
            -- KEYS   list deliveries, hash webhooks
            -- ARGV   endpoint, the delivery, most deliveries
            -- Returns 1, or 0 if there is no such endpoint
            -- Crash  The check precedes the writes.
            if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return 0 end
            redis.call('LPUSH', KEYS[1], ARGV[2])
            redis.call('LTRIM', KEYS[1], '0', string.format('%d', tonumber(ARGV[3]) - 1))
            return 1
            """)

    /// Runs a script that does nothing for an endpoint that was removed: nobody would remove what it writes.
    ///
    /// - Parameters:
    ///   - keys: the keys of the script, to which the hash of endpoints is added.
    ///   - arguments: the endpoint's id first.
    /// - Returns: Whether there is such an endpoint.
    /// - Throws: `redis`.
    @discardableResult
    func run(
        _ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument]
    ) async throws(WebhookError) -> Bool {
        do {
            return try await redis.run(
                script, keys: keys + [queue.gatewayKeys.webhooks], arguments: arguments
            ).int == 1
        } catch {
            throw records.failure(error)
        }
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
