package import JobQueue
import Synchronization

/// A look at the queue that many watch: taken at most once a second, however many ask, and not at all when nobody does.
package actor SharedLook {
    private static let age: Duration = .seconds(1)

    private let queue: JobQueue
    private var last: (look: QueueLook, at: ContinuousClock.Instant)?
    private var onItsWay: Task<QueueLook, any Error>?
    private var marks = FlowMarks()
    private var lastShares: (shares: [String: FlowShare], at: ContinuousClock.Instant)?

    package init(_ queue: JobQueue) { self.queue = queue }

    /// The newest look.
    package func look() async throws -> QueueLook {
        if let last, .now - last.at < Self.age { return last.look }
        if let onItsWay { return try await onItsWay.value }
        // Rates over a long silence say nothing of now.
        let before = last.flatMap { .now - $0.at < .seconds(10) ? $0.look : nil }
        let task = Task { [queue] in try await QueueLook(queue, after: before) }
        onItsWay = task
        defer { if onItsWay == task { onItsWay = nil } }
        let look = try await task.value
        if onItsWay == task {
            last = (look, .now)
            marks.note(look.status.flows, at: .now)
        }
        return look
    }

    /// How much of the work each flow had in the last minute and was due, by `<priority>:<tenant>`; of no flow before
    /// there were two looks.
    package func shares() async throws -> [String: FlowShare] {
        if let lastShares, .now - lastShares.at < Self.age { return lastShares.shares }
        let flows = try await look().status.flows
        guard !flows.isEmpty, let before = marks.oldest else { return [:] }
        let weights = try await queue.tenantRules().compactMapValues(\.weight)
        let shares = FlowShare.shares(from: before, to: flows, weights: weights)
        lastShares = (shares, .now)
        return shares
    }

    /// Forgets the last look, and what is on its way: somebody changed what the next one has to show.
    package func forget() {
        last = nil
        lastShares = nil
        onItsWay = nil
    }
}
