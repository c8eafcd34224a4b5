import FoundationEssentials
import JobQueue
import Redis

/// The progress of an endpoint, and the ways in which its owner can change it.
extension WebhookStore {
    /// Repeats the events since a time: sets the endpoint's cursor back. Repeated messages have the same `webhook-id` as before.
    ///
    /// - Parameter since: The time, in ms since 1970. Events that the stream does not have any more are reported as a gap.
    /// - Throws: `noSuchEndpoint`, `invalidTime`, `redis`.
    package func replay(_ id: String, since: Int) async throws(WebhookError) {
        guard (0...now()).contains(since) else {
            throw WebhookError(.invalidTime, "\(since) is no time in ms since 1970 in the past.")
        }
        guard try await get(id) != nil else {
            throw WebhookError(
                .noSuchEndpoint, "queue \(queue) has no endpoint \(id.debugDescription).")
        }
        // The position is before the first event of that millisecond, because an event at a position counts as read.
        // The gateway that delivers now remembers the old position; without its fence it must read the new one.
        _ = try await send([
            "HSET", RedisArgument(state(id)), "cursor",
            RedisArgument(since == 0 ? EventReader.beginning : "\(since - 1)-\(UInt64.max)"),
            "fence", "",
            "owner", "",
        ])
        _ = try await send([
            "XADD", RedisArgument(queue.keys.control), "MAXLEN", "~", "1000", "*", "webhook",
            RedisArgument(id),
        ])
    }

    /// Returns the last deliveries, the newest first; at most ``DeliveryTurn/outcomesMax``.
    ///
    /// - Throws: `redis`.
    package func deliveries(_ id: String) async throws(WebhookError) -> [WebhookDelivery] {
        let reply = try await send([
            "LRANGE", RedisArgument(queue.keys.webhook(id, "deliveries")), "0",
            RedisArgument(DeliveryTurn.outcomesMax - 1),
        ])
        return (reply.array ?? []).compactMap(\.bytes).compactMap { bytes in
            // A record that a later minilab wrote in another form is skipped.
            try? JSONDecoder().decode(WebhookDelivery.self, from: Data(bytes))
        }
    }

    /// Returns the key of the hash with the endpoint's progress.
    func state(_ id: String) -> String { queue.keys.webhook(id, "state") }

    func forgive(_ id: String) async throws(WebhookError) {
        _ = try await send(["HDEL", RedisArgument(state(id)), "failingSince", "failures"])
    }

    func removeProgress(_ id: String) async throws(WebhookError) {
        _ = try await send(
            ["UNLINK"]
                + ["state", "parked", "deliveries"].map {
                    RedisArgument(queue.keys.webhook(id, $0))
                })
    }
}
