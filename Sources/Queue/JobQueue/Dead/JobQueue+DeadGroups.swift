import Redis

extension JobQueue {
    /// Returns the causes of death. They are counted as jobs die, are replayed or are dropped, so the cost does not depend on
    /// the number of jobs. They are those of the whole queue, for operators.
    public func deadGroups() async throws(QueueError) -> DeadGroups {
        let fields =
            try await send(["HGETALL", RedisArgument(name.keys.deadGroups)]).pairs ?? [:]
        let others = fields["other"].flatMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        return DeadGroups(
            groups: fields.compactMap { DeadGroup($0.key, $0.value) }, others: others ?? 0)
    }
}
