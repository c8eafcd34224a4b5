package import FoundationEssentials
package import JobQueue

/// The state of a queue at one moment, and the events since the previous reading.
package struct QueueSnapshot: Encodable, Sendable {
    package let queue: String
    package let at: Date
    package let status: QueueStatus
    /// The differences of the counters per second; nil for the first reading.
    package let perSecond: [String: Double]?
    /// The batches that have not ended, the newest first.
    package let batches: [BatchReport]

    /// The maximum number of displayed batches.
    private static let batchesMax = 20

    package init(_ queue: JobQueue, after before: QueueSnapshot?) async throws {
        let status = try await queue.status()
        let slots = status.workers.reduce(0) { $0 + $1.slots }
        self.init(
            queue: queue.name.string, at: .now, status: status, after: before,
            batches: try await queue.batches(openOnly: true, count: Self.batchesMax)
                .map { BatchReport($0, slots: slots) })
    }

    package init(
        queue: String, at: Date, status: QueueStatus, after before: QueueSnapshot?,
        batches: [BatchReport]
    ) {
        self.queue = queue
        self.at = at
        self.status = status
        self.batches = batches
        perSecond = before.map { before in
            let seconds = max(at.timeIntervalSince(before.at), 0.001)
            return status.counters.reduce(into: [:]) { rates, counter in
                let passed = counter.value - (before.status.counters[counter.key] ?? 0)
                rates[counter.key] = Double(passed) / seconds
            }
        }
    }
}
