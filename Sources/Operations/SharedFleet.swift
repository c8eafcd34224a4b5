package import JobQueue

/// The workers of a queue, read once for all who ask in one moment.
///
/// The records of a thousand workers are 1 MB from Redis, and parsing them takes some 30 ms of a core. The state of a job and the
/// progress of a batch need only the number of slots, and clients ask for them often. A worker reports every few seconds, so a reading
/// of the last second is as new as a report.
package actor SharedFleet {
    /// The age at which a reading is repeated.
    static let ageMax: Duration = .seconds(1)

    private let read: @Sendable () async throws -> [WorkerInfo]
    private let clock: @Sendable () -> ContinuousClock.Instant
    private var last: (workers: [WorkerInfo], at: ContinuousClock.Instant)?
    private var onItsWay: Task<[WorkerInfo], any Error>?

    package init(_ queue: JobQueue) {
        self.init(clock: { .now }) { try await queue.workers() }
    }

    init(
        clock: @escaping @Sendable () -> ContinuousClock.Instant,
        _ read: @escaping @Sendable () async throws -> [WorkerInfo]
    ) {
        (self.clock, self.read) = (clock, read)
    }

    /// Returns the workers that sent a heartbeat recently.
    package func workers() async throws -> [WorkerInfo] {
        if let last, clock() - last.at < Self.ageMax { return last.workers }
        if let onItsWay { return try await onItsWay.value }
        // A task of its own: a caller that leaves ends nobody else's reading.
        let task = Task { [read] in try await read() }
        onItsWay = task
        defer { onItsWay = nil }
        let workers = try await task.value
        last = (workers, clock())
        return workers
    }

    /// Returns the number of slots of all of them.
    package func slots() async throws -> Int {
        try await workers().reduce(0) { $0 + $1.slots }
    }
}
