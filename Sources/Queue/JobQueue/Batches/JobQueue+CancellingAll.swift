public import Edits
import Redis

extension JobQueue {
    /// The result of cancelling many jobs.
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
        var (answer, open) = try await cancel(batch, reason: reason)
        // At most one window of jobs is outside the stream; more calls than those jobs need do not help.
        var calls = settings.window / Self.cancelMax + 2
        while answer == .cancelled, open > 0, calls > 0 {
            let (next, left) = try await cancel(batch, reason: reason)
            if next == .ended { return (answer, 0) }
            open = left
            calls -= 1
        }
        return (answer, open)
    }

    /// The maximum number of walks through a queue until one finds no more waiting job of a tenant.
    static let cancelWalksMax = 10
    /// The number of members that one step of a walk inspects.
    static let cancelStep = 200

    /// Cancels all jobs of a tenant: waiting ones in any state, and running ones.
    ///
    /// Meanwhile, jobs move between structures, also into one that was walked already. So the method walks again until a walk
    /// ends no job.
    public func cancelJobs(
        of tenant: JobID, reason: String
    ) async throws(QueueError) -> Cancellations {
        var result = Cancellations()
        // Each walk sees the running jobs; they are counted once.
        var notified: Set<String> = []
        for _ in 0..<Self.cancelWalksMax {
            let before = result.cancelled
            try await cancelReady(of: tenant, reason: reason, &result, &notified)
            for zset in ["delayed", "parked", "stuck", "lease"] {
                try await cancelMembers(of: zset, tenant, reason: reason, &result, &notified)
            }
            try await cancelSubmitted(by: tenant, reason: reason, &result, &notified)
            if result.cancelled == before { break }
        }
        return result
    }

    /// Cancels submitted jobs that are not admitted yet; only the backlog lists them.
    private func cancelSubmitted(
        by tenant: JobID, reason: String, _ result: inout Cancellations,
        _ notified: inout Set<String>
    ) async throws(QueueError) {
        var cursor = "0"
        repeat {
            let reply = try await send([
                "HSCAN", RedisArgument(name.keys.backlog(tenant.string)), RedisArgument(cursor),
                "COUNT", RedisArgument(Self.cancelStep),
            ])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string,
                let pairs = parts[1].array
            else {
                throw QueueError(
                    .unexpectedReply, "HSCAN of a backlog of queue \(name) answered \(reply).")
            }
            let ids = stride(from: 0, to: pairs.count, by: 2).compactMap { pairs[$0].string }
                .filter { !$0.hasPrefix("batch:") && !notified.contains($0) }
            for start in stride(from: 0, to: ids.count, by: Self.cancelMax) {
                let some = ids[start..<min(start + Self.cancelMax, ids.count)]
                _ = try await cancel(Array(some), reason: reason, &result, &notified)
            }
            cursor = next
        } while cursor != "0"
    }

    /// Cancels ready jobs, which have a flow per tenant.
    private func cancelReady(
        of tenant: JobID, reason: String, _ result: inout Cancellations,
        _ notified: inout Set<String>
    ) async throws(QueueError) {
        for priority in Priority.allCases.map(\.rawValue) + ["alone"] {
            let key = RedisArgument(name.keys.ready(priority, tenant.string))
            while true {
                let head = try await send(["ZRANGE", key, "0", RedisArgument(Self.cancelMax - 1)])
                let ids = head.array?.compactMap(\.string) ?? []
                // Jobs that a worker claimed meanwhile are not in the flow any more.
                if ids.isEmpty { break }
                if try await cancel(ids, reason: reason, &result, &notified) == 0 { break }
            }
        }
    }

    /// Inspects each member of another structure. A cursor skips no member that exists during the whole walk. Ranks would skip
    /// some, because a removed member moves the later ones up.
    private func cancelMembers(
        of zset: String, _ tenant: JobID, reason: String, _ result: inout Cancellations,
        _ notified: inout Set<String>
    ) async throws(QueueError) {
        var cursor = "0"
        repeat {
            let reply = try await send([
                "ZSCAN", "\(name.keys.prefix)\(zset)", RedisArgument(cursor), "COUNT",
                RedisArgument(Self.cancelStep),
            ])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string,
                let pairs = parts[1].array
            else {
                throw QueueError(
                    .unexpectedReply, "ZSCAN of \(zset) of queue \(name) answered \(reply).")
            }
            let ids = stride(from: 0, to: pairs.count, by: 2).compactMap { pairs[$0].string }
            let tenants = try await sendAll(
                ids.map { ["HGET", RedisArgument(name.keys.job($0)), "tenant"] })
            let theirs = zip(ids, tenants).filter {
                ($1.string ?? "default") == tenant.string && !notified.contains($0)
            }.map(\.0)
            for start in stride(from: 0, to: theirs.count, by: Self.cancelMax) {
                let some = theirs[start..<min(start + Self.cancelMax, theirs.count)]
                _ = try await cancel(Array(some), reason: reason, &result, &notified)
            }
            cursor = next
        } while cursor != "0"
    }

    /// - Returns: The number of jobs that ended.
    private func cancel(
        _ ids: [String], reason: String, _ result: inout Cancellations,
        _ notified: inout Set<String>
    ) async throws(QueueError) -> Int {
        var ended = 0
        for (id, answer) in zip(ids, try await cancel(ids, reason: reason)) {
            switch answer {
            case .cancelled: ended += 1
            case .notified:
                notified.insert(id)
                result.notified += 1
            case .publishing:
                notified.insert(id)
                result.publishing += 1
            case .ended, .unknown, .later: break
            }
        }
        result.cancelled += ended
        return ended
    }
}
