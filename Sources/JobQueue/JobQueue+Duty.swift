import Redis

/// Work that one worker does for all: two that do it at the same time do no harm, a thousand would fill Redis.
public enum Duty: String, Sendable, CaseIterable {
    /// To take new jobs in.
    case admitting
    /// To take back leases that ran out.
    case reaping
    /// To end what nobody else ends.
    case tending

    /// How long a worker has it without saying so again: what its death costs.
    public var lease: Duration {
        switch self {
        case .admitting: .seconds(1)
        case .reaping, .tending: .seconds(3)
        }
    }
}

extension JobQueue {
    /// Takes a duty when nobody has it, or renews it.
    ///
    /// - Returns: whether the worker has it; false when another one has.
    public func take(_ duty: Duty, by worker: String) async throws(QueueError) -> Bool {
        let reply = try await run(
            QueueScript.takeDuty,
            [
                RedisArgument(duty.rawValue), RedisArgument(worker),
                RedisArgument(duty.lease.milliseconds),
            ])
        guard let has = reply.int else { throw unexpected(reply, of: QueueScript.takeDuty) }
        return has == 1
    }

    /// Gives a duty up, if the worker has it, so that another one can take it before it ends by itself.
    public func giveUp(_ duty: Duty, by worker: String) async throws(QueueError) {
        guard try await send(["GET", key(of: duty)]).string == worker else { return }
        _ = try await send(["UNLINK", key(of: duty)])
    }

    /// How many workers were heard of in the last two leases.
    public func workerCount() async throws(QueueError) -> Int {
        let since = try await now() - (settings.lease * 2).milliseconds
        let reply = try await send([
            "ZCOUNT", RedisArgument(name.keys.workers), RedisArgument(since), "+inf",
        ])
        return reply.int.map { Int($0) } ?? 0
    }

    private func key(of duty: Duty) -> RedisArgument {
        RedisArgument(name.keys.duty(duty))
    }
}
