/// A use that a key is for. None of them includes another one.
package enum Scope: String, Sendable, Codable, CaseIterable, Comparable {
    /// Puts in and cancels jobs, batches, originals and webhooks of the key's own.
    case enqueue
    /// Looks at the key's own jobs, events and photos.
    case read
    /// Looks at and steers the queue: workers, dead jobs, replays, pauses, limits.
    case operate
    /// Looks at and changes keys, and mends the queue.
    case admin

    package static func < (left: Scope, right: Scope) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
