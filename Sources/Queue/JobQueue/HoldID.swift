/// One hold of a job. A worker may hold a job, lose it and claim it again; only the fence distinguishes the two holds.
public struct HoldID: Sendable, Hashable {
    /// The job.
    public let job: String
    /// The token of the hold. A fence is never reused.
    public let fence: String

    /// Creates a hold.
    public init(job: String, fence: String) {
        self.job = job
        self.fence = fence
    }
}
