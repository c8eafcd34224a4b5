/// One hold of a job. A worker may hold a job, lose it and claim it again: only the fence tells the two holds apart.
public struct HoldID: Sendable, Hashable {
    /// The job.
    public let job: String
    /// The token of the hold. A fence never comes back.
    public let fence: String

    /// A hold.
    public init(job: String, fence: String) {
        self.job = job
        self.fence = fence
    }
}
