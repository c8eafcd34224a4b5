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

    /// Most walks through a queue until one finds nothing more of a tenant to end.
    static let cancelWalksMax = 10
    /// Members of a structure that one step of a walk looks at.
    static let cancelStep = 200

    /// Cancels all jobs of a tenant: those that wait, in any state, and those that run.
    ///
    /// Jobs go from one structure to another meanwhile, also into one that was walked already. So it walks again until
    /// a walk ends none.
    public func cancelJobs(
        of tenant: JobID, reason: String
    ) async throws(QueueError) -> Cancellations {
        var result = Cancellations()
        // Those that run are seen by each walk, and counted once.
        var told: Set<String> = []
        for _ in 0..<Self.cancelWalksMax {
            let before = result.cancelled
            try await cancelReady(of: tenant, reason: reason, &result, &told)
            for zset in ["delayed", "parked", "stuck", "lease"] {
                try await cancelMembers(of: zset, tenant, reason: reason, &result, &told)
            }
            try await cancelSubmitted(by: tenant, reason: reason, &result, &told)
            if result.cancelled == before { break }
        }
        return result
    }

    /// Jobs that were submitted and are not taken in yet are in no structure but the backlog.
    private func cancelSubmitted(
        by tenant: JobID, reason: String, _ result: inout Cancellations, _ told: inout Set<String>
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
                .filter { !$0.hasPrefix("batch:") && !told.contains($0) }
            for start in stride(from: 0, to: ids.count, by: Self.cancelMax) {
                let some = ids[start..<min(start + Self.cancelMax, ids.count)]
                _ = try await cancel(Array(some), reason: reason, &result, &told)
            }
            cursor = next
        } while cursor != "0"
    }

    /// Flows have a tenant's ready jobs by themselves.
    private func cancelReady(
        of tenant: JobID, reason: String, _ result: inout Cancellations, _ told: inout Set<String>
    ) async throws(QueueError) {
        for priority in Priority.allCases.map(\.rawValue) + ["alone"] {
            let key = RedisArgument(name.keys.ready(priority, tenant.string))
            while true {
                let head = try await send(["ZRANGE", key, "0", RedisArgument(Self.cancelMax - 1)])
                let ids = head.array?.compactMap(\.string) ?? []
                // Those that a worker has taken meanwhile are in no flow any more.
                if ids.isEmpty { break }
                if try await cancel(ids, reason: reason, &result, &told) == 0 { break }
            }
        }
    }

    /// Of the other structures each member is looked at. A cursor passes over none that is there during all of its
    /// walk; ranks would, because what is cancelled moves those behind it up.
    private func cancelMembers(
        of zset: String, _ tenant: JobID, reason: String, _ result: inout Cancellations,
        _ told: inout Set<String>
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
                ($1.string ?? "default") == tenant.string && !told.contains($0)
            }.map(\.0)
            for start in stride(from: 0, to: theirs.count, by: Self.cancelMax) {
                let some = theirs[start..<min(start + Self.cancelMax, theirs.count)]
                _ = try await cancel(Array(some), reason: reason, &result, &told)
            }
            cursor = next
        } while cursor != "0"
    }

    /// - Returns: how many ended.
    private func cancel(
        _ ids: [String], reason: String, _ result: inout Cancellations, _ told: inout Set<String>
    ) async throws(QueueError) -> Int {
        var ended = 0
        for (id, answer) in zip(ids, try await cancel(ids, reason: reason)) {
            switch answer {
            case .cancelled: ended += 1
            case .told:
                told.insert(id)
                result.told += 1
            case .publishing:
                told.insert(id)
                result.publishing += 1
            case .ended, .unknown, .later: break
            }
        }
        result.cancelled += ended
        return ended
    }
}
