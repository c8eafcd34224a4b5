public import Adjustments
import Redis

extension JobQueue {
    /// What became of a job that was to be cancelled.
    public enum Cancellation: String, Sendable {
        /// It waited, and has ended.
        case cancelled = "OK"
        /// A worker holds it and was told to stop.
        case told = "TOLD"
        /// Too late: its version is being published.
        case publishing = "PUBLISHING"
        /// It had ended.
        case ended = "ENDED"
        /// There is no such job, or its record has been dropped since.
        case unknown = "GONE"
        /// Its record is of a later format: a newer minilab can.
        case later = "LATER"
    }

    /// Most ids of one cancel call.
    public static let cancelMax = 200

    /// Cancels jobs; one answer per id, of which at most ``cancelMax`` are allowed.
    ///
    /// - Parameter reason: for people; it is in the events.
    public func cancel(
        _ ids: [String], reason: String
    ) async throws(QueueError) -> [Cancellation] {
        precondition(ids.count <= Self.cancelMax)
        let reply = try await run(
            QueueScript.cancel, [RedisArgument(reason)] + ids.map { RedisArgument($0) })
        guard let answers = reply.array, answers.count == ids.count else {
            throw unexpected(reply, of: QueueScript.cancel)
        }
        var cancellations: [Cancellation] = []
        for answer in answers {
            guard let cancellation = answer.string.flatMap(Cancellation.init) else {
                throw unexpected(answer, of: QueueScript.cancel)
            }
            cancellations.append(cancellation)
        }
        return cancellations
    }

    /// Cancels a batch: at once what is in its lane, and with each call up to ``cancelMax`` of its jobs that
    /// wait. Workers are told of those that run.
    ///
    /// - Returns: what became of it, and how many of its jobs the call saw that had not ended.
    public func cancel(
        _ batch: BatchID, reason: String
    ) async throws(QueueError) -> (Cancellation, open: Int) {
        let reply = try await run(
            QueueScript.cancelBatch,
            [RedisArgument(batch.string), RedisArgument(reason), RedisArgument(Self.cancelMax)])
        guard let parts = reply.array, parts.count == 2, let open = parts[1].int,
            let answer = parts[0].string.flatMap(Cancellation.init)
        else { throw unexpected(reply, of: QueueScript.cancelBatch) }
        return (answer, Int(open))
    }

    /// Ends a job that the caller holds and that was cancelled meanwhile.
    public func concludeCancelled(_ claim: Claim) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.conclude,
            [RedisArgument(claim.job), RedisArgument(claim.fence), "cancelled"])
    }
}
