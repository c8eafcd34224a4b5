public import Edits
import Redis

extension JobQueue {
    /// Runs a dead job again whose record was dropped, from its request, as a new generation.
    ///
    /// - Returns: As ``restore(_:)``; `unknown` if nothing is remembered of the job.
    public func restore(
        dropped id: JobID, as request: JobRequest
    ) async throws(QueueError) -> Replay {
        var generation: Int?
        for names in ["seen:new", "seen:old"] where generation == nil {
            let mark = try await send([
                "HGET", RedisArgument(name.keys.prefix + names), RedisArgument(id.string),
            ]).string
            // `dropped:<generation>:<digest>`, as `remove_record` writes it.
            let parts = (mark ?? "").split(separator: ":", omittingEmptySubsequences: false)
            if parts.count == 3, parts[0] == "dropped" { generation = Int(parts[1]) ?? 1 }
        }
        guard let generation else { return .unknown }
        return try await restore(
            SpilledJob(
                job: id.string, generation: generation, asset: request.asset.string,
                edit: request.edit.json.canonical,
                tenant: request.scheduling.tenant?.string ?? "default",
                priority: request.scheduling.priority?.rawValue ?? "normal", batch: nil,
                cost: request.scheduling.cost, isNamed: true, code: nil, message: nil, died: 0,
                history: []))
    }

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
