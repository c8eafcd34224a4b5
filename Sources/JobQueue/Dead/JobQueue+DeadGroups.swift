public import Adjustments
import Redis

extension JobQueue {
    /// The causes of death, counted as jobs die, are replayed and go: as fast for a million of them as for one.
    ///
    /// - Parameter tenant: only those of it; nil: of all.
    public func deadGroups(tenant: JobID? = nil) async throws(QueueError) -> DeadGroups {
        let fields =
            try await send(["HGETALL", RedisArgument(name.keys.deadGroups)]).pairs ?? [:]
        let groups = fields.compactMap { DeadGroup($0.key, $0.value) }
            .filter { group in tenant.map { $0.string == group.tenant } ?? true }
            .sorted { ($1.jobs, $0.name) < ($0.jobs, $1.name) }
        let others = fields["other"].flatMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        return DeadGroups(groups: groups, others: others ?? 0)
    }
}
