public import Adjustments
import Redis

extension JobQueue {
    /// The answer to a batch that was submitted.
    public enum BatchSubmission: Sendable, Equatable {
        /// It is open.
        case created
        /// It was opened before, with the same edit.
        case same
        /// A batch of this name has another edit.
        case otherEdit
        /// A batch of this name ended, and the name is remembered until then at the latest, in ms since 1970; nil when no
        /// worker has said until when.
        case nameUsed(until: Int?)
        /// So many of the tenant's jobs have not ended, and no more are allowed.
        case overQuota(waiting: Int, max: Int)
    }

    /// The answer to a batch that was to be sealed.
    public enum Sealing: Sendable, Equatable {
        /// It is sealed.
        case sealed
        /// It was sealed at this number before.
        case same
        /// Nobody has opened a batch of this name.
        case unknownBatch
        /// It is sealed at another number of jobs.
        case sealedBefore(at: Int)
        /// It has more jobs already.
        case given(Int)
        /// As of ``BatchSubmission``.
        case nameUsed(until: Int?)
    }

    /// Opens a batch and answers what became of it: what ``open(_:)`` says by an event later, this says at once.
    ///
    /// - Parameter backlogMax: as for jobs; an open batch counts as one.
    /// - Throws: as for jobs.
    public func submit(
        _ batch: BatchRequest, backlogMax: Int?
    ) async throws(QueueError) -> BatchSubmission {
        var words = ["batch", batch.id.string, "edit", batch.edit.json.canonical]
        if let cap = batch.cap { words += ["cap", "\(cap)"] }
        words += batch.scheduling.fields.flatMap { [$0.name, $0.value] }
        let (answer, _, number) = try await submitBatch(words, backlogMax)
        switch answer {
        case "CREATED": return .created
        case "SAME": return .same
        case "OTHER": return .otherEdit
        case "USED": return .nameUsed(until: number)
        case "QUOTA": return .overQuota(waiting: number ?? 0, max: backlogMax ?? 0)
        default: throw unknown(answer)
        }
    }

    /// Seals a batch and answers what became of it, as ``seal(_:jobs:cost:)`` does not.
    ///
    /// - Parameter cost: what all of them are likely to cost, in milliseconds of one slot, for the ETA.
    public func submitSeal(
        of batch: BatchID, jobs: Int, cost: Int? = nil
    ) async throws(QueueError) -> Sealing {
        var words = ["batch", batch.string, "seal", "\(jobs)"]
        if let cost { words += ["total", "\(cost)"] }
        let (_, answer, number) = try await submitBatch(words, nil)
        switch (answer, number) {
        case ("SEALED", _): return .sealed
        case ("SAME", _): return .same
        case ("NONE", _): return .unknownBatch
        case ("AT", let jobs?): return .sealedBefore(at: jobs)
        case ("GIVEN", let jobs?): return .given(jobs)
        case ("USED", _): return .nameUsed(until: number)
        default: throw unknown(answer)
        }
    }

    /// - Returns: the answers for opening and for sealing; and the number with it, if there is any.
    private func submitBatch(
        _ words: [String], _ backlogMax: Int?
    ) async throws(QueueError) -> (opened: String, sealed: String, number: Int?) {
        let reply = try await run(
            QueueScript.submitBatch,
            [Self.quota(backlogMax)] + words.map { RedisArgument($0) })
        guard let parts = reply.array, parts.count == 3, let opened = parts[0].string,
            let sealed = parts[1].string, let number = parts[2].int
        else { throw unexpected(reply, of: QueueScript.submitBatch) }
        return (opened, sealed, number < 0 ? nil : Int(number))
    }

    private func unknown(_ answer: String) -> QueueError {
        QueueError(
            .unexpectedReply,
            "script \(QueueScript.submitBatch.name) of queue \(name) answered \(answer), which this version of minilab "
                + "does not know.")
    }
}
