package import JobQueue

/// A record and what follows from it.
package struct BatchReport: Encodable, Sendable {
    package let record: BatchRecord
    /// Jobs that ended per second.
    package let rate: Double
    /// Milliseconds that a worker held a job, on average.
    package let meanCost: Double?
    /// Seconds until all have ended, if workers do nothing else.
    package let remainingSeconds: Double?

    package init(_ record: BatchRecord, slots: Int) {
        self.record = record
        rate = record.rate
        meanCost = record.meanCost
        remainingSeconds = record.remainingTime(slots: slots).map { $0 / .seconds(1) }
    }
}
