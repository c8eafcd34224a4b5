import Redis

extension JobQueue {
    /// How often what happened since the queue exists; ``QueueStatus/counters`` says the names.
    public func counters() async throws(QueueError) -> [String: Int] {
        try await send(["HGETALL", RedisArgument(name.keys.counters)]).pairs?
            .compactMapValues { Int($0) } ?? [:]
    }
}
