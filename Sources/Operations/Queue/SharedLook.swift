package import JobQueue
import Synchronization

/// A look at the queue that many watch: taken at most once a second, however many ask, and not at all when nobody does.
package actor SharedLook {
    private static let age: Duration = .seconds(1)

    private let queue: JobQueue
    private var last: (look: QueueLook, at: ContinuousClock.Instant)?
    private var onItsWay: Task<QueueLook, any Error>?

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
        if onItsWay == task { last = (look, .now) }
        return look
    }

    /// Forgets the last look, and what is on its way: somebody changed what the next one has to show.
    package func forget() {
        last = nil
        onItsWay = nil
    }
}
