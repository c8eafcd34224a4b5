import Redis

extension JobQueue {
    /// Restores a dead job that was moved to a file, as a new generation.
    ///
    /// - Returns: `replayed`; `notDead` if the job exists, because it was restored before or sent again; `conflict` if another
    ///   job has the id, or a batch that was opened since its death; `malformed` if it has no edit to run.
    public func restore(_ job: SpilledJob) async throws(QueueError) -> Replay {
        guard let edit = job.edit else { return .malformed }
        let reply = try await run(
            QueueScript.restore,
            [
                RedisArgument(job.job), RedisArgument(job.generation), RedisArgument(job.asset),
                RedisArgument(edit), RedisArgument(job.tenant), RedisArgument(job.priority),
                RedisArgument(job.batch ?? ""), RedisArgument(job.cost.map { "\($0)" } ?? ""),
                job.isNamed ? "1" : "", RedisArgument(job.died),
            ])
        switch reply.string {
        case "OK": return .replayed
        case "THERE": return .notDead
        case "OTHER": return .conflict
        // The worker crashed after it wrote the file and before it dropped the job from Redis.
        case "DEAD": return try await replay([job.job]).first ?? .unknown
        default: throw unexpected(reply, of: QueueScript.restore)
        }
    }
}
