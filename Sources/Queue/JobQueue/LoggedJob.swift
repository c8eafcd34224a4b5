public import Logging

/// The job that the lines of a log are about.
///
/// It is bound to the task that works on a job, so that all code that logs there, such as the Redis client, adds `job`,
/// `asset` and `fence` without a parameter.
public struct LoggedJob: Sendable, Equatable {
    /// The job.
    public let job: String
    /// The asset, as the producer sent it.
    public let asset: String
    /// The token of the hold.
    public let fence: String

    /// The job that the present task works on, if any.
    @TaskLocal public static var current: LoggedJob?

    /// Creates the value for a claimed job.
    public init(_ claim: Claim) {
        (job, asset, fence) = (claim.job, claim.asset, claim.fence)
    }

    /// Creates the value for a job whose publication is continued.
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
