import FoundationEssentials
package import JobQueue
import Synchronization

/// A reading of the queue that several clients share: made at most once a second, however many clients ask, and never without a
/// request.
///
/// A reading visits each flow, so with 10,000 tenants it takes Redis some 20 to 40 ms: a queue whose readings are slow is read
/// less often.
package actor SharedSnapshot {
    /// The age at which a reading is repeated, for fast and for slow readings.
    static let ages: ClosedRange<Duration> = .seconds(1) ... .seconds(5)
    /// The ratio of the pause after a reading to the time that the reading took.
    static let rest = 50

    private let queue: JobQueue
    private var last: (snapshot: QueueSnapshot, at: ContinuousClock.Instant, age: Duration)?
    private var onItsWay: Task<QueueSnapshot, any Error>?
    private var marks = FlowMarks()
    private var lastShares: (shares: [String: FlowShare], of: Date)?

    package init(_ queue: JobQueue) { self.queue = queue }

    /// Returns the newest reading.
    package func current() async throws -> QueueSnapshot {
        if let last, .now - last.at < last.age { return last.snapshot }
        if let onItsWay { return try await onItsWay.value }
        // Rates over a long pause would not describe the present.
        let before = last.flatMap { .now - $0.at < .seconds(10) ? $0.snapshot : nil }
        let start = ContinuousClock.now
        let task = Task { [queue] in try await QueueSnapshot(queue, after: before) }
        onItsWay = task
        defer { if onItsWay == task { onItsWay = nil } }
        let snapshot = try await task.value
        if onItsWay == task {
            last = (snapshot, .now, Self.age(after: .now - start))
            marks.note(snapshot.status.flows, at: .now)
        }
        return snapshot
    }

    /// Returns the maximum age of a reading that took this time.
    static func age(after duration: Duration) -> Duration {
        min(max(ages.lowerBound, duration * rest), ages.upperBound)
    }

    /// Returns the work that each flow received in the last minute and the work that was due, by `<priority>:<tenant>`; empty
    /// before the second reading.
    package func shares() async throws -> [String: FlowShare] {
        let snapshot = try await current()
        if let lastShares, lastShares.of == snapshot.at { return lastShares.shares }
        guard !snapshot.status.flows.isEmpty, let before = marks.oldest else { return [:] }
        let weights = try await queue.tenantRules().compactMapValues(\.weight)
        let shares = FlowShare.shares(from: before, to: snapshot.status.flows, weights: weights)
        lastShares = (shares, snapshot.at)
        return shares
    }

    /// Drops the last reading and any reading in progress, because a change must be visible in the next one.
    package func invalidate() {
        last = nil
        onItsWay = nil
    }
}
