import Adjustments
import JobQueue
import Telemetry

/// Sends a file of jobs as one batch.
///
/// Sending it again, after a crash of either side, adds what is missing and nothing twice.
struct BulkEnqueue: Sendable {
    let batch: BatchRequest
    let survey: JobSurvey

    /// What was sent.
    struct Report: Encodable {
        let batch: String
        let jobs: Int
        /// Those that the batch did not have yet.
        let added: Int
        let jobsPerSecond: Double
    }

    /// Most bytes of edits and paths that travel in one command.
    private static let chunkBytesMax = 4 << 20
    /// How often a chunk is sent again when the connection is lost.
    private static let triesMax = 5

    /// Opens the batch, adds the jobs and seals it.
    func send(_ file: JobFile, to queue: JobQueue) async throws -> Report {
        guard try await checkWhatIsThere(queue) else {
            return Report(batch: batch.id.string, jobs: survey.jobs, added: 0, jobsPerSecond: 0)
        }
        try await queue.open(batch)
        let clock = ContinuousClock()
        var added = 0
        let time = try await clock.measure { added = try await sendMembers(file, to: queue) }
        try await queue.seal(batch.id, jobs: survey.jobs, cost: survey.cost)
        return Report(
            batch: batch.id.string, jobs: survey.jobs, added: added,
            jobsPerSecond: Double(survey.jobs) / (time / .seconds(1)))
    }

    /// Refuses what would not be taken anyway.
    ///
    /// - Returns: false when the batch has had all its jobs already.
    private func checkWhatIsThere(_ queue: JobQueue) async throws -> Bool {
        _ = try await add([], 0, to: queue)
        guard let record = try await queue.record(of: batch.id), let sealed = record.sealed else {
            return true
        }
        if sealed != survey.jobs { throw refusal(.sealed(at: sealed)) }
        return record.admitted + record.lane < survey.jobs
    }

    /// One chunk is on its way while the next is read.
    private func sendMembers(_ file: JobFile, to queue: JobQueue) async throws -> Int {
        var parser = MemberParser()
        let lines = file.lines()
        let batchEdit = batch.edit.json.canonical
        var progress = Progress(total: survey.jobs, done: 0)
        var (sent, added, bytes) = (0, 0, 0)
        var members: [JobQueue.Member] = []
        var onItsWay: Task<Int, any Error>?
        func flush() async throws {
            added += try await onItsWay?.value ?? 0
            progress.advance(to: sent)
            let (chunk, first) = (members, sent)
            onItsWay = Task { try await add(chunk, first, to: queue) }
            sent += chunk.count
            members.removeAll(keepingCapacity: true)
            bytes = 0
        }
        while let line = try lines.next() {
            guard let parsed = try parser.parse(line) else { continue }
            let edit = parsed.edit == batchEdit ? nil : parsed.edit
            let size = parsed.asset.string.utf8.count + (edit?.utf8.count ?? 0)
            if members.count == JobQueue.membersMax || bytes + size > Self.chunkBytesMax {
                try await flush()
            }
            members.append(
                JobQueue.Member(asset: parsed.asset, canonicalEdit: edit, cost: parsed.cost))
            bytes += size
        }
        try await flush()
        added += try await onItsWay?.value ?? 0
        guard sent == survey.jobs else {
            throw Failure(
                .ioFailure,
                "\(file.path) changed while it was read: it had \(survey.jobs) jobs, then \(sent). Batch "
                    + "\(batch.id) is not sealed; cancel it and send the file anew.")
        }
        progress.advance(to: sent)
        return added
    }

    private func add(
        _ members: [JobQueue.Member], _ first: Int, to queue: JobQueue
    ) async throws -> Int {
        var tries = 0
        while true {
            do {
                let answer = try await queue.add(
                    members, to: batch.id, editedBy: batch.edit.json.canonical, from: first)
                if case .added(let count) = answer { return count }
                throw refusal(answer, after: first)
            } catch let error as QueueError {
                tries += 1
                guard tries < Self.triesMax, error.code == .redis, !error.isRedisFull else {
                    throw error
                }
            }
        }
    }

    /// Waits until all jobs of a batch have ended, and tells how far it is.
    static func wait(for batch: BatchID, jobs: Int, on queue: JobQueue) async throws -> BatchRecord
    {
        var progress = Progress(total: jobs, done: 0)
        while true {
            let record = try await queue.record(of: batch)
            if let record {
                let slots = try await queue.workers().reduce(0) { $0 + $1.slots }
                progress.advance(
                    to: record.done + record.cancelled, failed: record.dead,
                    estimate: record.remainingTime(slots: slots))
                if record.isComplete { return record }
            } else {
                progress.tell()
            }
            try await Task.sleep(for: .seconds(1))
        }
    }
}
