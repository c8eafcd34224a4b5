import Redis

/// Whose a part of a job is.
public enum PartStanding: Sendable, Equatable {
    /// Nobody does it, and nobody will: it is the job's own again. It may have been done.
    case ours
    /// Another worker does it now.
    case busy
    /// The job is not held any more.
    case fenced
}

extension JobQueue {
    /// Makes parts of a job that any worker may do: of all that is told about jobs nothing is told about them.
    ///
    /// They end with the job. A job in quarantine has none.
    ///
    /// - Parameters:
    ///   - task: what the workers are told, the same for all parts; those of another task end.
    ///   - numbers: which parts. Those that there are already, or that have ended, are not made again.
    public func split(
        _ claim: Claim, task: String, into numbers: [Int]
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.split,
            [RedisArgument(claim.job), RedisArgument(claim.fence), RedisArgument(task)]
                + numbers.map { RedisArgument($0) })
    }

    /// Takes a part back, unless another worker does it now.
    ///
    /// - Returns: whose it is, and which parts others have ended.
    public func takePart(
        _ claim: Claim, _ number: Int
    ) async throws(QueueError) -> (standing: PartStanding, ended: [Int]) {
        let reply = try await run(
            QueueScript.takePart,
            [RedisArgument(claim.job), RedisArgument(claim.fence), RedisArgument(number)])
        guard let words = reply.array?.map(\.string), let answer = words.first else {
            throw unexpected(reply, of: QueueScript.takePart)
        }
        let ended = words.dropFirst().compactMap { $0.flatMap { Int($0) } }
        switch answer {
        case "OURS": return (.ours, ended)
        case "BUSY": return (.busy, ended)
        case "GONE", "FENCED": return (.fenced, ended)
        default: throw unexpected(reply, of: QueueScript.takePart)
        }
    }
}
