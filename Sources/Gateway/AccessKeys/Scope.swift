/// A permitted use of a key. No scope includes another one.
package enum Scope: String, Sendable, Codable, CaseIterable, Comparable {
    /// Submits and cancels the key's own jobs and batches, and manages its originals and webhooks.
    case enqueue
    /// Reads the key's own jobs, events and photos.
    case read
    /// Reads and controls the queue: workers, dead jobs, replays, pauses, limits.
    case operate
    /// Reads and changes keys, and repairs the queue.
    case admin

    package static func < (left: Scope, right: Scope) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
