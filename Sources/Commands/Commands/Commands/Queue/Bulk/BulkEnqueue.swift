import Edits
import JobQueue
import Telemetry
import Operations

/// The submission of a file of jobs as one batch.
///
/// Repeating it, after a crash of either side, adds only the missing jobs.
struct BulkEnqueue: Sendable {
    let batch: BatchRequest
    let survey: JobSurvey
    /// Whether a line without an edit has that of the command.
    let haveEdit: Bool

    /// The entries that open and seal a batch; nil where none was sent.
    struct Entries {
        var opening: String?
        var seal: String?
    }

    /// The result of a submission.
    struct Report: Encodable {
        let batch: String
        let jobs: Int
        /// The jobs that were new to the batch.
        let added: Int
        /// The lines that are no jobs.
        let refused: RefusedLines
        let jobsPerSecond: Double
    }

    /// Opens the batch, adds the jobs and seals it.
    func send(
        _ file: JobFile, to queue: JobQueue
    ) async throws -> (report: Report, entries: Entries) {
        guard try await checkWhatIsThere(queue) else {
            let report = Report(
                batch: batch.id.string, jobs: survey.jobs, added: 0, refused: survey.refused,
                jobsPerSecond: 0)
            return (report, Entries())
        }
        let opening = try await queue.open(batch)
        let clock = ContinuousClock()
        var added = 0
        let time = try await clock.measure { added = try await sendMembers(file, to: queue) }
        let seal = try await queue.seal(batch.id, jobs: survey.jobs, cost: survey.cost)
        let report = Report(
            batch: batch.id.string, jobs: survey.jobs, added: added, refused: survey.refused,
            jobsPerSecond: Double(survey.jobs) / (time / .seconds(1)))
        return (report, Entries(opening: opening, seal: seal))
    }

    /// Checks the existing batch, and throws if the queue would refuse the jobs.
    ///
    /// - Returns: false if the batch already has all its jobs.
    private func checkWhatIsThere(_ queue: JobQueue) async throws -> Bool {
        try await refusing {
            try await MemberSender.ask(
                batch.id, editedBy: batch.edit.json.canonical, on: queue)
        }
        guard let record = try await queue.record(of: batch.id), let sealed = record.sealed else {
            return true
        }
        if sealed != survey.jobs { throw refusal(.sealed(at: sealed)) }
        return record.admitted + record.lane < survey.jobs
    }

    private func sendMembers(_ file: JobFile, to queue: JobQueue) async throws -> Int {
        var lines = file.members(haveEdit: haveEdit)
        var sender = MemberSender(
            to: batch.id, editedBy: batch.edit.json.canonical, from: 0, on: queue)
        var progress = Progress(total: survey.jobs, done: 0)
        try await refusing {
            while let parsed = try lines.nextMember() {
                let before = sender.sent
                if try await sender.add(parsed) { progress.advance(to: before) }
            }
            try await sender.finish()
        }
        guard sender.sent == survey.jobs else {
            throw Failure(
                .ioFailure,
                "\(file.path) changed while it was read: it had \(survey.jobs) jobs, then \(sender.sent). Batch "
                    + "\(batch.id) is not sealed; cancel it and send the file again.")
        }
        progress.advance(to: sender.sent)
        return sender.added
    }

    /// Adds an explanation for people to an error of `body` that refuses members.
    private func refusing(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as MemberRefusal {
            throw refusal(error.answer, after: error.sent)
        }
    }

    /// Waits until all jobs of the batch have finished, and shows the progress.
    ///
    /// - Throws: a failure if the batch can never finish: it was refused, its record was dropped, or an entry that opens or
    ///   seals it was lost: another producer dropped it unread, or Redis lost its last second.
    func wait(for entries: Entries, on queue: JobQueue) async throws -> BatchRecord {
        var progress = Progress(total: survey.jobs, done: 0)
        var wasThere = false
        while true {
            let record = try await queue.record(of: batch.id)
            if let record {
                wasThere = true
                let slots = try await queue.workers().reduce(0) { $0 + $1.slots }
                progress.advance(
                    to: record.done + record.cancelled, failed: record.dead,
                    estimate: record.remainingTime(slots: slots))
                if record.isComplete { return record }
                if record.sealed == nil, let seal = entries.seal,
                    try await isLost(seal, on: queue, { $0?.sealed != nil })
                {
                    throw lost("seals")
                }
            } else {
                // A batch without a record is not admitted yet, was refused, or has ended so long ago that it is forgotten.
                try await refusing {
                    try await MemberSender.ask(
                        batch.id, editedBy: batch.edit.json.canonical, on: queue)
                }
                guard !wasThere else {
                    throw Failure(
                        .noSuchBatch,
                        "batch \(batch.id) has no record any more: Redis has lost it. Send the file again."
                    )
                }
                if let opening = entries.opening,
                    try await isLost(opening, on: queue, { $0 != nil })
                {
                    throw lost("opens")
                }
                progress.report()
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Returns whether an entry has left the ingress stream without its effect on the record.
    private func isLost(
        _ entry: String, on queue: JobQueue, _ hasEffect: (BatchRecord?) -> Bool
    ) async throws -> Bool {
        if try await queue.isIncoming(entry: entry) { return false }
        return !hasEffect(try await queue.record(of: batch.id))
    }

    private func lost(_ what: String) -> Failure {
        Failure(
            .noSuchBatch,
            "the entry that \(what) batch \(batch.id) was lost before a worker read it: another producer dropped it "
                + "(XADD with MAXLEN or MINID, XTRIM), or Redis lost its last second. Run the same command again."
        )
    }
}
