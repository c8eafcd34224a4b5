import Edits
package import JobQueue

/// The record of a batch, with the values derived from it.
package struct BatchReport: Encodable, Sendable {
    package let record: BatchRecord
    package let rate: Double
    /// The average time for which a worker held a job, in milliseconds.
    package let meanCost: Double?
    /// The time until all jobs have ended if workers do nothing else, in seconds.
    package let remainingSeconds: Double?

    package init(_ record: BatchRecord, slots: Int) {
        self.record = record
        rate = record.rate
        meanCost = record.meanCost
        remainingSeconds = record.remainingTime(slots: slots).map { $0 / .seconds(1) }
    }
}

package struct JobStatus: Encodable, Sendable {
    package let record: JobRecord
    package let history: [Attempt]

    package init(record: JobRecord, history: [Attempt]) {
        self.record = record
        self.history = history
    }

    package init?(of job: String, on queue: JobQueue) async throws(QueueError) {
        guard let record = try await queue.record(of: job) else { return nil }
        self.init(record: record, history: try await queue.attempts(of: job))
    }
}
