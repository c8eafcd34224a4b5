package import JobQueue

/// A job's record and the failures of its attempts.
package struct JobStatus: Encodable, Sendable {
    package let record: JobRecord
    /// The failures, the newest first.
    package let history: [Attempt]

    package init(record: JobRecord, history: [Attempt]) {
        self.record = record
        self.history = history
    }

    /// Reads both; nil if there is no such job.
    package init?(of job: String, on queue: JobQueue) async throws(QueueError) {
        guard let record = try await queue.record(of: job) else { return nil }
        self.init(record: record, history: try await queue.attempts(of: job))
    }
}
