import Redis

extension JobQueue {
    /// Puts a dead job back that was moved to a file, as a new generation.
    ///
    /// - Returns: `replayed`; `notDead` when it is there, since it was put back before or sent again; `malformed` when
    ///   there is nothing to run.
    public func restore(_ job: SpilledJob) async throws(QueueError) -> Replay {
        guard let edit = job.edit else { return .malformed }
        let reply = try await run(
            QueueScript.restore,
            [
                RedisArgument(job.job), RedisArgument(job.generation), RedisArgument(job.asset),
                RedisArgument(edit), RedisArgument(job.tenant), RedisArgument(job.priority),
                RedisArgument(job.batch ?? ""), RedisArgument(job.cost.map { "\($0)" } ?? ""),
                job.isNamed ? "1" : "",
            ])
        switch reply.string {
        case "OK": return .replayed
        case "THERE": return .notDead
        // Its worker crashed after it was written and before it was dropped.
        case "DEAD": return try await replay([job.job]).first ?? .unknown
        default: throw unexpected(reply, of: QueueScript.restore)
        }
    }
}
