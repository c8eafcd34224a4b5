import Redis

/// The result of claiming a part for the worker of its job.
public enum PartState: Sendable, Equatable {
    /// No other worker runs it, and none will: the parent's worker may run it. It may have been done already.
    case ours
    /// Another worker runs it now.
    case busy
    /// The caller does not hold the parent any more.
    case fenced
}

extension JobQueue {
    /// Creates parts of a job that any worker may run. Parts have no events and do not count as jobs.
    ///
    /// They end with the job. A job in quarantine has no parts.
    ///
    /// - Parameters:
    ///   - task: The task, the same for all parts; parts with another task end.
    ///   - numbers: The numbers of the parts. Parts that exist or have ended are not created again.
    public func split(
        _ claim: Claim, task: String, into numbers: [Int]
    ) async throws(QueueError) -> HoldState {
        try await holdState(
            QueueScript.split,
            [RedisArgument(claim.job), RedisArgument(claim.fence), RedisArgument(task)]
                + numbers.map { RedisArgument($0) })
    }

    /// Claims a part for the worker of its job, unless another worker runs it now.
    ///
    /// - Returns: The result, and the numbers of the parts that other workers have ended.
    public func claimPart(
        _ claim: Claim, _ number: Int
    ) async throws(QueueError) -> (state: PartState, ended: [Int]) {
        let reply = try await run(
            QueueScript.claimPart,
            [RedisArgument(claim.job), RedisArgument(claim.fence), RedisArgument(number)])
        guard let fields = reply.array?.map(\.string), let answer = fields.first else {
            throw unexpected(reply, of: QueueScript.claimPart)
        }
        let ended = fields.dropFirst().compactMap { $0.flatMap { Int($0) } }
        switch answer {
        case "OURS": return (.ours, ended)
        case "BUSY": return (.busy, ended)
        case "GONE", "FENCED": return (.fenced, ended)
        default: throw unexpected(reply, of: QueueScript.claimPart)
        }
    }
}
