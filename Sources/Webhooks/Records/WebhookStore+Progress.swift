import FoundationEssentials
import JobQueue
import Redis

/// How far an endpoint is: where its owner steps in.
extension WebhookStore {
    /// Lets an endpoint have again what happened since a time: its cursor goes back, and repeats have the same
    /// `webhook-id` as before.
    ///
    /// - Parameter since: ms since 1970. What the event stream does not hold any more is told as a gap.
    /// - Throws: `noSuchEndpoint`, `invalidTime`, `redis`.
    package func replay(_ id: String, since: Int) async throws(WebhookError) {
        guard (0...now()).contains(since) else {
            throw WebhookError(.invalidTime, "\(since) is no time in ms since 1970 in the past.")
        }
        guard try await get(id) != nil else {
            throw WebhookError(
                .noSuchEndpoint, "queue \(queue) has no endpoint \(id.debugDescription).")
        }
        // The place is before the first event of that millisecond: what is at a place was read.
        // The gateway that delivers now has the old place in mind: without a fence it has to read the new one.
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

    /// The last deliveries, the newest first; at most ``DeliveryTurn/outcomesMax``.
    ///
    /// - Throws: `redis`.
    package func deliveries(_ id: String) async throws(WebhookError) -> [WebhookDelivery] {
        let reply = try await send([
            "LRANGE", RedisArgument(queue.keys.webhook(id, "deliveries")), "0",
            RedisArgument(DeliveryTurn.outcomesMax - 1),
        ])
        return (reply.array ?? []).compactMap(\.bytes).compactMap { bytes in
            // One that a later minilab wrote otherwise is passed over.
            try? JSONDecoder().decode(WebhookDelivery.self, from: Data(bytes))
        }
    }

    /// The key of the hash that says how far it is.
    func state(_ id: String) -> String { queue.keys.webhook(id, "state") }

    func forgive(_ id: String) async throws(WebhookError) {
        _ = try await send(["HDEL", RedisArgument(state(id)), "failingSince", "failures"])
    }

    func forget(_ id: String) async throws(WebhookError) {
        _ = try await send(
            ["UNLINK"]
                + ["state", "parked", "deliveries"].map {
                    RedisArgument(queue.keys.webhook(id, $0))
                })
    }
}
