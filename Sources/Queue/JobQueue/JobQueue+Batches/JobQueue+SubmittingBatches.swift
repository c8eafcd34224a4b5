public import Edits
import Redis

extension JobQueue {
    /// The reply to the submission of a batch.
    public enum BatchSubmission: Sendable, Equatable {
        /// The batch is open.
        case created
        /// The batch was opened before, with the same edit.
        case same
        /// A batch of this name has another edit.
        case otherEdit
        /// A batch of this name has ended. The name is reserved until this time at the latest, in ms since 1970; nil if no worker
        /// has recorded the time.
        case nameUsed(until: Int?)
        /// The tenant has this many jobs that have not ended, and its quota allows no more.
        case overQuota(waiting: Int, max: Int)
        /// The tenant stores this many bytes, and its quota allows no more.
        case overBytes(stored: Int, max: Int)
    }

    /// The reply to the sealing of a batch.
    public enum Sealing: Sendable, Equatable {
        /// The batch is sealed.
        case sealed
        /// The batch was sealed at this number before.
        case same
        /// No batch of this name was opened.
        case unknownBatch
        /// The batch is sealed at another number of jobs.
        case sealedBefore(at: Int)
        /// The batch already has this larger number of jobs.
        case given(Int)
        /// As for ``BatchSubmission``.
        case nameUsed(until: Int?)
    }

    /// Opens a batch and returns the result at once. ``open(_:)`` reports it by a later event.
    ///
    /// - Parameters:
    ///   - folder: The folder of the key that opens it; nil if no key does.
    ///   - backlogMax: As for jobs; an open batch counts as one.
    ///   - storedMax: As for jobs.
    /// - Throws: As for jobs.
    public func submit(
        _ batch: BatchRequest, folder: String?, backlogMax: Int?, storedMax: Int? = nil
    ) async throws(QueueError) -> BatchSubmission {
        var fields = ["batch", batch.id.string, "edit", batch.edit.json.canonical]
        if let cap = batch.cap { fields += ["cap", "\(cap)"] }
        if let folder { fields += ["folder", folder] }
        fields += batch.scheduling.fields.flatMap { [$0.name, $0.value] }
        let (answer, _, number) = try await submitBatch(fields, backlogMax, storedMax)
        switch answer {
        case "CREATED": return .created
        case "SAME": return .same
        case "OTHER": return .otherEdit
        case "USED": return .nameUsed(until: number)
        case "QUOTA": return .overQuota(waiting: number ?? 0, max: backlogMax ?? 0)
        case "STORED": return .overBytes(stored: number ?? 0, max: storedMax ?? 0)
        case "SHARE": throw shareUsed(number ?? 0)
        default: throw unknown(answer)
        }
    }

    /// Seals a batch and returns the result at once, unlike ``seal(_:jobs:cost:)``.
    ///
    /// - Parameter cost: The likely cost of all jobs, in milliseconds of one slot, for the ETA.
    public func submitSeal(
        of batch: BatchID, jobs: Int, cost: Int? = nil
    ) async throws(QueueError) -> Sealing {
        var fields = ["batch", batch.string, "seal", "\(jobs)"]
        if let cost { fields += ["total", "\(cost)"] }
        let (_, answer, number) = try await submitBatch(fields, nil, nil)
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

    /// - Returns: The replies for opening and for sealing, and the number that belongs to them, if any.
    private func submitBatch(
        _ fields: [String], _ backlogMax: Int?, _ storedMax: Int?
    ) async throws(QueueError) -> (opened: String, sealed: String, number: Int?) {
        let reply = try await run(
            QueueScript.submitBatch,
            [
                Self.quota(backlogMax), Self.quota(storedMax),
                Self.quota(storedAllMax),
            ] + fields.map { RedisArgument($0) })
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
