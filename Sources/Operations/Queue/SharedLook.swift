import FoundationEssentials
package import JobQueue
import Synchronization

/// A look at the queue that many watch: taken at most once a second, however many ask, and not at all when nobody does.
///
/// A look visits each flow, so one at 10,000 tenants takes Redis some 20 to 40 ms: a queue whose look takes long is looked at
/// less often.
package actor SharedLook {
    /// The age at which a look is taken anew, when looks are quick and when they are slow.
    static let ages: ClosedRange<Duration> = .seconds(1) ... .seconds(5)
    /// How much longer than a look took the next one has to wait.
    static let rest = 50

    private let queue: JobQueue
    private var last: (look: QueueLook, at: ContinuousClock.Instant, age: Duration)?
    private var onItsWay: Task<QueueLook, any Error>?
    private var marks = FlowMarks()
    private var lastShares: (shares: [String: FlowShare], of: Date)?

    package init(_ queue: JobQueue) { self.queue = queue }

    /// The newest look.
    package func look() async throws -> QueueLook {
        if let last, .now - last.at < last.age { return last.look }
        if let onItsWay { return try await onItsWay.value }
        // Rates over a long silence say nothing of now.
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

    /// How old a look may become that took so long.
    static func age(after took: Duration) -> Duration {
        min(max(ages.lowerBound, took * rest), ages.upperBound)
    }

    /// How much of the work each flow had in the last minute and was due, by `<priority>:<tenant>`; of no flow before
    /// there were two looks.
    package func shares() async throws -> [String: FlowShare] {
        let look = try await look()
        if let lastShares, lastShares.of == look.at { return lastShares.shares }
        guard !look.status.flows.isEmpty, let before = marks.oldest else { return [:] }
        let weights = try await queue.tenantRules().compactMapValues(\.weight)
        let shares = FlowShare.shares(from: before, to: look.status.flows, weights: weights)
        lastShares = (shares, look.at)
        return shares
    }

    /// Forgets the last look, and what is on its way: somebody changed what the next one has to show.
    package func forget() {
        last = nil
        onItsWay = nil
    }
}
