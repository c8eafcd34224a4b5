public import Edits
import Redis

extension JobQueue {
    public enum Cancellation: String, Sendable {
        /// The job was waiting and has ended.
        case cancelled = "OK"
        /// A worker holds the job and was notified.
        case notified = "NOTIFIED"
        /// Too late: its version is being published.
        case publishing = "PUBLISHING"
        /// The job had ended before.
        case ended = "ENDED"
        /// The job does not exist, or its record has been dropped.
        case unknown = "GONE"
        /// The job's record has a later format; a newer minilab can cancel the job.
        case later = "LATER"
        /// The job's record in Redis is damaged; it stays as it is.
        case damaged = "ERROR"
    }

    public static let cancelMax = 200

    /// Cancels jobs. Returns one result per id; at most ``cancelMax`` ids are allowed.
    ///
    /// - Parameter reason: The reason for people; the events contain it.
    public func cancel(
        _ ids: [String], reason: String
    ) async throws(QueueError) -> [Cancellation] {
        precondition(ids.count <= Self.cancelMax)
        let reply = try await run(QueueScript.cancel, reason, ids)
        guard let answers = reply.array, answers.count == ids.count else {
            throw unexpected(reply, of: QueueScript.cancel)
        }
        var cancellations: [Cancellation] = []
        for answer in answers {
            guard
                let cancellation = answer.string.map(Self.word)
                    .flatMap(Cancellation.init)
            else {
                throw unexpected(answer, of: QueueScript.cancel)
            }
            cancellations.append(cancellation)
        }
        return cancellations
    }

    /// Cancels a batch: all entries of its stream at once, and with each call up to ``cancelMax`` of its waiting jobs. The workers
    /// of its running jobs are notified.
    ///
    /// - Returns: The result, and the number of jobs seen by the call that had not ended.
    public func cancel(
        _ batch: BatchID, reason: String
    ) async throws(QueueError) -> (Cancellation, open: Int) {
        let (answer, _, open) = try await cancel(batch, reason: reason, from: 0)
        return (answer, open.orMore)
    }

    /// The jobs of a batch that a call has seen and that had not ended.
    struct OpenMembers: Sendable {
        let seen: Int
        /// As many, or one more if the call ended as many as it may.
        let orMore: Int
    }

    /// Cancels a batch as ``cancel(_:reason:)``, and ends waiting jobs from one of its members on.
    ///
    /// - Returns: The result, the number of the member to continue from, nil at the end, and the jobs that had not ended.
    func cancel(
        _ batch: BatchID, reason: String, from first: Int
    ) async throws(QueueError) -> (Cancellation, next: Int?, open: OpenMembers) {
        let reply = try await run(
            QueueScript.cancelBatch, batch.string, reason, Self.cancelMax, first)
        let parts = reply.array ?? []
        let numbers = parts.dropFirst().compactMap { $0.int.map { Int($0) } }
        guard numbers.count == 3, let answer = parts[0].string.flatMap(Cancellation.init) else {
            throw unexpected(reply, of: QueueScript.cancelBatch)
        }
        return (
            answer, numbers[1] < 0 ? nil : numbers[1],
            OpenMembers(seen: numbers[2], orMore: numbers[0])
        )
    }

    /// Ends a job that the caller holds and that was cancelled.
    public func concludeCancelled(_ claim: Claim) async throws(QueueError) -> Hold.Reply {
        try await holdState(QueueScript.conclude, claim.hold, "cancelled")
    }
}
