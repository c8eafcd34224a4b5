public import Adjustments
import Redis

extension JobQueue {
    /// Returns the causes of death. They are counted as jobs die, are replayed or are dropped, so the cost does not depend on
    /// the number of jobs.
    ///
    /// - Parameter tenant: The tenant whose groups are returned; nil for all tenants.
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
