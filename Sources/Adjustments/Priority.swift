/// How urgent a job is. More urgent jobs go first, but each priority has a share that it always gets.
public enum Priority: String, Sendable, Codable, CaseIterable {
    /// Somebody waits for it.
    case interactive
    /// The usual.
    case normal
    /// Much of it, and it has time. The usual for batches.
    case bulk
}
