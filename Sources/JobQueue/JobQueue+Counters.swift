import Redis

extension JobQueue {
    /// Returns the counts of events since the queue was created; ``QueueStatus/counters`` lists the names.
    public func counters() async throws(QueueError) -> [String: Int] {
        try await send(["HGETALL", RedisArgument(name.keys.counters)]).pairs?
            .compactMapValues { Int($0) } ?? [:]
    }
}
