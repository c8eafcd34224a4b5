public import Logging

/// Which job the lines of a log are about.
///
/// Bound to the task that works on a job, so that whatever logs there, be it the client of Redis, says
/// `job`, `asset` and `fence` without being told.
public struct LoggedJob: Sendable, Equatable {
    /// The job.
    public let job: String
    /// The asset, as it was sent.
    public let asset: String
    /// The token of the hold.
    public let fence: String

    /// The job that the present task works on, if any.
    @TaskLocal public static var current: LoggedJob?

    /// A job that was claimed.
    public init(_ claim: Claim) {
        (job, asset, fence) = (claim.job, claim.asset, claim.fence)
    }

    /// A job that is carried on.
    public init(_ carried: CarriedJob) {
        (job, asset, fence) = (carried.job, carried.asset, carried.fence)
    }
}

extension Logger.MetadataProvider {
    /// Adds `job`, `asset` and `fence` of ``LoggedJob/current`` to each line.
    public static let job = Logger.MetadataProvider {
        guard let current = LoggedJob.current else { return [:] }
        return [
            "job": "\(current.job)", "asset": "\(current.asset)", "fence": "\(current.fence)",
        ]
    }
}
