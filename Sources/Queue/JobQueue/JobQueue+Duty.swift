import Redis

/// Work that one worker does for all. Two workers that do it at the same time do no harm; a thousand would overload Redis.
public enum Duty: String, Sendable, CaseIterable {
    /// Admits new jobs.
    case admitting
    /// Reaps expired leases.
    case reaping
    /// Ends batches and batch streams that nothing else ends.
    case tending

    /// The time for which a worker has the duty without renewing it: the delay that its death causes.
    public var lease: Duration {
        switch self {
        case .admitting: .seconds(1)
        case .reaping, .tending: .seconds(3)
        }
    }
}

extension JobQueue {
    /// Claims a duty that no worker has, or renews it.
    ///
    /// - Returns: Whether the worker has the duty; false if another worker has it.
    public func claim(_ duty: Duty, by worker: String) async throws(QueueError) -> Bool {
        let reply = try await run(
            QueueScript.claimDuty,
            [
                RedisArgument(duty.rawValue), RedisArgument(worker),
                RedisArgument(duty.lease.milliseconds),
            ])
        guard let has = reply.int else { throw unexpected(reply, of: QueueScript.claimDuty) }
        return has == 1
    }

    /// Releases a duty of the worker, so that another worker can claim it before it expires.
    public func release(_ duty: Duty, by worker: String) async throws(QueueError) {
        let duties = RedisArgument(name.keys.duties)
        let holder = try await send(["HGET", duties, RedisArgument(duty.rawValue)]).string
        guard holder?.drop(while: { $0 != " " }).dropFirst() == worker[...] else { return }
        _ = try await send(["HDEL", duties, RedisArgument(duty.rawValue)])
    }

    /// Returns the number of workers that sent a heartbeat in the last two leases.
    public func workerCount() async throws(QueueError) -> Int {
        let since = try await now() - (settings.lease * 2).milliseconds
        let reply = try await send([
            "ZCOUNT", RedisArgument(name.keys.workers), RedisArgument(since), "+inf",
        ])
        return reply.int.map { Int($0) } ?? 0
    }
}
