import FoundationEssentials
package import JobQueue
import Synchronization

/// A reading of the queue that several clients share: made at most once a second, however many clients ask, and never without a
/// request.
///
/// A reading visits each flow, so with 10,000 tenants it takes Redis some 20 to 40 ms: a queue whose readings are slow is read
/// less often.
package actor SharedLook {
    /// The age at which a reading is repeated, for fast and for slow readings.
    static let ages: ClosedRange<Duration> = .seconds(1) ... .seconds(5)
    /// The ratio of the pause after a reading to the time that the reading took.
    static let rest = 50

    private let queue: JobQueue
    private var last: (look: QueueLook, at: ContinuousClock.Instant, age: Duration)?
    private var onItsWay: Task<QueueLook, any Error>?
    private var marks = FlowMarks()
    private var lastShares: (shares: [String: FlowShare], of: Date)?

    package init(_ queue: JobQueue) { self.queue = queue }

    /// Returns the newest reading.
    package func look() async throws -> QueueLook {
        if let last, .now - last.at < last.age { return last.look }
        if let onItsWay { return try await onItsWay.value }
        // Rates over a long pause would not describe the present.
        let before = last.flatMap { .now - $0.at < .seconds(10) ? $0.look : nil }
        let start = ContinuousClock.now
        let task = Task { [queue] in try await QueueLook(queue, after: before) }
        onItsWay = task
        defer { if onItsWay == task { onItsWay = nil } }
        let look = try await task.value
        if onItsWay == task {
            last = (look, .now, Self.age(after: .now - start))
            marks.note(look.status.flows, at: .now)
        }
        return look
    }

    /// Returns the maximum age of a reading that took this time.
    static func age(after duration: Duration) -> Duration {
        min(max(ages.lowerBound, duration * rest), ages.upperBound)
    }

    /// Returns the work that each flow received in the last minute and the work that was due, by `<priority>:<tenant>`; empty
    /// before the second reading.
    package func shares() async throws -> [String: FlowShare] {
        let look = try await look()
        if let lastShares, lastShares.of == look.at { return lastShares.shares }
        guard !look.status.flows.isEmpty, let before = marks.oldest else { return [:] }
        let weights = try await queue.tenantRules().compactMapValues(\.weight)
        let shares = FlowShare.shares(from: before, to: look.status.flows, weights: weights)
        lastShares = (shares, look.at)
        return shares
    }

    /// Drops the last reading and any reading in progress, because a change must be visible in the next one.
    package func forget() {
        last = nil
        onItsWay = nil
    }
}
