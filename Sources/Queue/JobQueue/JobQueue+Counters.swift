import Redis

extension JobQueue {
    /// Returns the average cost of the last renders, in milliseconds of a slot; nil if none is known. See `Scripts/Shared/costs.lua`.
    package func meanCost() async throws(QueueError) -> Double? {
        let reply = try await send([
            "HMGET", RedisArgument(name.keys.virtual), "costMs", "costJobs",
        ])
        let costs = (reply.array ?? []).compactMap { $0.string.flatMap { Double($0) } }
        return costs.count == 2 && costs[1] > 0 ? costs[0] / costs[1] : nil
    }

    /// Returns the counts of events since the queue was created; ``QueueStatus/counters`` lists the names.
    public func counters() async throws(QueueError) -> [String: Int] {
        try await send(["HGETALL", RedisArgument(name.keys.counters)]).pairs?
            .compactMapValues { Int($0) } ?? [:]
    }
}
