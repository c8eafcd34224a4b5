import JobQueue
import Redis

/// The progress of an endpoint.
package struct WebhookProgress: Sendable, Equatable {
    /// The number of messages that wait for another attempt.
    package let parked: Int
    /// The time between its position in the event stream and the newest event, in ms. The position of an endpoint with few
    /// events is recorded only now and then, so a value below ``WebhookSettings/lease`` has no meaning.
    package let lag: Int
}

extension WebhookStore {
    /// The maximum number of endpoints of one call.
    package static let progressMax = 200

    /// Returns the progress of endpoints, by id; only of the first ``standingsMax``.
    ///
    /// - Throws: `redis`.
    package func progress(
        of ids: [String]
    ) async throws(WebhookError) -> [String: WebhookProgress] {
        let ids = Array(ids.prefix(Self.progressMax))
        let newest = try await send([
            "XREVRANGE", RedisArgument(queue.keys.events), "+", "-", "COUNT", "1",
        ]).array?.first?.array?.first?.string.map(StreamEvent.milliseconds)
        let replies = await redis.sendAll(
            ids.flatMap { id -> [[RedisArgument]] in
                [
                    ["ZCARD", RedisArgument(queue.keys.webhook(id, "parked"))],
                    ["HGET", RedisArgument(state(id)), "cursor"],
                ]
            })
        var progress: [String: WebhookProgress] = [:]
        for (index, id) in ids.enumerated() {
            let parked: Int64?
            let cursor: Int?
            do {
                parked = try replies[2 * index].get().int
                cursor = try replies[2 * index + 1].get().string.map(StreamEvent.milliseconds)
            } catch {
                throw failure(error)
            }
            // 0 is the position before the first event.
            let lag = cursor.flatMap { $0 > 0 ? (newest ?? $0) - $0 : nil } ?? 0
            progress[id] = WebhookProgress(parked: Int(parked ?? 0), lag: max(0, lag))
        }
        return progress
    }
}
