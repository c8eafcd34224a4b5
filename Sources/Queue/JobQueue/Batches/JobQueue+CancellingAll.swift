public import Edits
import Redis

extension JobQueue {
    public struct Cancellations: Sendable, Equatable {
        /// The number of waiting jobs that have ended.
        public var cancelled = 0
        /// The number of running jobs whose workers were notified.
        public var notified = 0
        /// The number of jobs that could not be cancelled, because their versions are being published.
        public var publishing = 0
    }

    /// Cancels a batch and ends its waiting jobs, whatever their number.
    ///
    /// After the first script call, none of the waiting jobs will run; the further calls only remove the remaining records from
    /// Redis.
    ///
    /// - Returns: The result, and the number of jobs that workers still hold.
    public func cancelWhole(
        _ batch: BatchID, reason: String
    ) async throws(QueueError) -> (Cancellation, open: Int) {
        var (answer, next, open) = try await cancel(batch, reason: reason, from: 0)
        guard answer == .cancelled else { return (answer, open.seen) }
        var left = open.seen
        // Running jobs are passed over, however many there are: those that wait behind them end as well.
        while let first = next {
            (answer, next, open) = try await cancel(batch, reason: reason, from: first)
            if answer == .ended { return (.cancelled, 0) }
            left += open.seen
        }
        return (.cancelled, left)
    }

    /// Cancels all jobs of a tenant: waiting ones in any state, and running ones.
    ///
    /// Meanwhile, jobs move between structures, also into one that was walked already. So the method walks again until a walk
    /// ends no job.
    public func cancelJobs(
        of tenant: JobID, reason: String
    ) async throws(QueueError) -> Cancellations {
        let walk = TenantCancelling(queue: self, tenant: tenant.string, reason: reason)
        for _ in 0..<TenantCancelling.walksMax {
            let before = walk.result.cancelled
            try await walk.run()
            if walk.result.cancelled == before { break }
        }
        return walk.result
    }
}

/// Walks through a queue and cancels the jobs of a tenant.
private final class TenantCancelling {
    /// The maximum number of walks until one finds no more waiting job.
    static let walksMax = 10
    /// The number of members that one step of a walk inspects.
    static let step = 200

    let queue: JobQueue
    let tenant: String
    let reason: String
    var result = JobQueue.Cancellations()
    /// Each walk sees the running jobs; they are counted once.
    var notified: Set<String> = []

    init(queue: JobQueue, tenant: String, reason: String) {
        (self.queue, self.tenant, self.reason) = (queue, tenant, reason)
    }

    func run() async throws(QueueError) {
        let keys = queue.name.keys
        for priority in JobQueue.priorities {
            let key = keys.ready(priority, tenant)
            var ended = 1
            while ended > 0 {
                // Jobs that a worker claimed meanwhile are not in the flow any more.
                let head = try await queue.send("ZRANGE", key, 0, JobQueue.cancelMax - 1)
                ended = try await cancel(head.array?.compactMap(\.string) ?? [])
            }
            // Those that cannot be cancelled, of a later release or damaged, stay in front of the others.
            try await walk("ZSCAN", key) { ids throws(QueueError) in try await self.cancel(ids) }
        }
        for zset in JobState.all(in: [.waits, .listed]).map(\.rawValue) + ["lease"] {
            try await walk("ZSCAN", keys.prefix + zset) { ids throws(QueueError) in
                let tenants = try await self.queue.sendAll(
                    ids.map { ["HGET", keys.job($0), "tenant"] }, skippingDamaged: true)
                try await self.cancel(
                    zip(ids, tenants).filter { ($1.string ?? "default") == self.tenant }.map(\.0))
            }
        }
        // Submitted jobs that are not admitted yet: only the backlog lists them.
        try await walk("HSCAN", keys.backlog(tenant)) { ids throws(QueueError) in
            try await self.cancel(ids.filter { !$0.hasPrefix("batch:") })
        }
    }

    /// Calls `body` with the members of a structure whose workers are not notified yet.
    private func walk(
        _ command: String, _ key: String, _ body: ([String]) async throws(QueueError) -> Void
    ) async throws(QueueError) {
        try await queue.scan(command, key, count: Self.step) { pairs throws(QueueError) in
            let ids = stride(from: 0, to: pairs.count, by: 2).compactMap { pairs[$0].string }
            try await body(ids.filter { !self.notified.contains($0) })
        }
    }

    /// - Returns: The number of jobs that ended.
    @discardableResult
    private func cancel(_ ids: [String]) async throws(QueueError) -> Int {
        let before = result.cancelled
        for start in stride(from: 0, to: ids.count, by: JobQueue.cancelMax) {
            let some = Array(ids[start..<min(start + JobQueue.cancelMax, ids.count)])
            for (id, answer) in zip(some, try await queue.cancel(some, reason: reason)) {
                switch answer {
                case .cancelled: result.cancelled += 1
                case .notified: if notified.insert(id).inserted { result.notified += 1 }
                case .publishing: if notified.insert(id).inserted { result.publishing += 1 }
                case .ended, .unknown, .later, .damaged: break
                }
            }
        }
        return result.cancelled - before
    }
}
