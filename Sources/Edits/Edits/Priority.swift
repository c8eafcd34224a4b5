/// The urgency of a job. More urgent jobs go first, but each priority has a guaranteed share.
public enum Priority: String, Sendable, Codable, CaseIterable {
    /// A user is waiting for it.
    case interactive
    /// The default for single jobs.
    case normal
    /// Large volumes without urgency. The default for batches.
    case bulk
}
