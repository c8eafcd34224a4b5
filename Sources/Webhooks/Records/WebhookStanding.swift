import JobQueue
import Redis

/// How far an endpoint is.
package struct WebhookStanding: Sendable, Equatable {
    /// Messages that wait to be sent again.
    package let parked: Int
    /// Between its place in the event stream and the newest event, in ms. Of an endpoint that gets few events the place
    /// is written now and then only: less than ``WebhookSettings/lease`` says nothing.
    package let lag: Int
}

extension WebhookStore {
    /// Most endpoints that are looked at in one go.
    package static let standingsMax = 200

    /// How far endpoints are, by id; the first ``standingsMax`` alone.
    ///
    /// - Throws: `redis`.
    package func standings(
        of ids: [String]
    ) async throws(WebhookError) -> [String: WebhookStanding] {
        let ids = Array(ids.prefix(Self.standingsMax))
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
        var standings: [String: WebhookStanding] = [:]
        for (index, id) in ids.enumerated() {
            let parked: Int64?
            let cursor: Int?
            do {
                parked = try replies[2 * index].get().int
                cursor = try replies[2 * index + 1].get().string.map(StreamEvent.milliseconds)
            } catch {
                throw failure(error)
            }
            // 0 is the place before the first event of all.
            let lag = cursor.flatMap { $0 > 0 ? (newest ?? $0) - $0 : nil } ?? 0
            standings[id] = WebhookStanding(parked: Int(parked ?? 0), lag: max(0, lag))
        }
        return standings
    }
}
