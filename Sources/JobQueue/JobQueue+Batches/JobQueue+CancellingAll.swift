public import Adjustments
import Redis

extension JobQueue {
    /// What became of many jobs that were to be cancelled.
    public struct Cancellations: Sendable, Equatable {
        /// Those that waited, and have ended.
        public var cancelled = 0
        /// Those that workers were told to stop.
        public var told = 0
        /// Those of which it is too late.
        public var publishing = 0
    }

    /// Cancels a batch, and ends its jobs that wait, however many they are.
    ///
    /// The first call is enough that none of them runs; the others only take what is left out of Redis.
    ///
    /// - Returns: what became of it, and how many of its jobs workers still hold.
    public func cancelWhole(
        _ batch: BatchID, reason: String
    ) async throws(QueueError) -> (Cancellation, open: Int) {
        var (answer, open) = try await cancel(batch, reason: reason)
        // A window of jobs at most is out of the lane; more calls than those would take do not help.
        var calls = settings.window / Self.cancelMax + 2
        while answer == .cancelled, open > 0, calls > 0 {
            let (next, left) = try await cancel(batch, reason: reason)
            if next == .ended { return (answer, 0) }
            open = left
            calls -= 1
        }
        return (answer, open)
    }

    /// Cancels all jobs of a tenant: those that wait, in any state, and those that run.
    ///
    /// Flows have a tenant's ready jobs by themselves; of the delayed, the parked and the running ones each is looked
    /// at, in chunks.
    public func cancelJobs(
        of tenant: JobID, reason: String
    ) async throws(QueueError) -> Cancellations {
        var result = Cancellations()
        let prefix = name.keyPrefix
        for priority in Priority.allCases.map(\.rawValue) + ["alone"] {
            let key = RedisArgument("\(prefix)ready:\(priority):\(tenant)")
            while true {
                let head = try await send(["ZRANGE", key, "0", RedisArgument(Self.cancelMax - 1)])
                let ids = head.array?.compactMap(\.string) ?? []
                let cancelled = try await cancel(ids, reason: reason, &result)
                // Those that a worker has taken meanwhile are in no flow any more.
                if ids.isEmpty || cancelled == 0 { break }
            }
        }
        for zset in ["delayed", "parked", "stuck", "lease"] {
            var offset = 0
            while true {
                let page = try await send([
                    "ZRANGE", "\(prefix)\(zset)", RedisArgument(offset),
                    RedisArgument(offset + Self.cancelMax - 1),
                ])
                let ids = page.array?.compactMap(\.string) ?? []
                if ids.isEmpty { break }
                let tenants = try await sendAll(
                    ids.map { ["HGET", RedisArgument("\(prefix)job:\($0)"), "tenant"] })
                let theirs = zip(ids, tenants).filter {
                    ($1.string ?? "default") == tenant.string
                }.map(\.0)
                let cancelled = try await cancel(theirs, reason: reason, &result)
                // What was cancelled is gone from here, unless its worker has to end it.
                offset += ids.count - cancelled
            }
        }
        return result
    }

    /// - Returns: how many ended.
    private func cancel(
        _ ids: [String], reason: String, _ result: inout Cancellations
    ) async throws(QueueError) -> Int {
        guard !ids.isEmpty else { return 0 }
        var ended = 0
        for answer in try await cancel(ids, reason: reason) {
            switch answer {
            case .cancelled: ended += 1
            case .told: result.told += 1
            case .publishing: result.publishing += 1
            case .ended, .unknown, .later: break
            }
        }
        result.cancelled += ended
        return ended
    }
}
