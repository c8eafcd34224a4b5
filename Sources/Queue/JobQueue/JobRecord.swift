public import Edits
public import Logging

/// The record of one job in Redis.
public struct JobRecord: Sendable, Codable, Equatable {
    public let job: String
    /// The format of the record. A record of a format above ``formatKnown`` is decoded as far as it is understood.
    public let format: Int
    public let state: JobState
    public let asset: String
    public let tenant: String
    /// The priority of the job; `alone` means quarantine.
    public let priority: String
    public let batch: String?
    /// The number of replays of the job, plus one.
    public let generation: Int
    /// The failed attempts of this generation.
    public let attempts: Int
    /// The number of workers that died while they ran this generation.
    public let crashes: Int
    /// The worker that holds the job, or held it last.
    public package(set) var worker: String?
    /// The time of admission, ms since 1970.
    public let enqueued: Int
    /// The time of the last claim, ms since 1970.
    public let claimed: Int?
    /// The time at which the job became done or dead, ms since 1970.
    public let ended: Int?
    /// The failure code of the last failed attempt, for programs.
    public let code: FailureCode?
    public package(set) var message: String?
    /// The token of the newest hold.
    public let fence: String?
    /// The version that the job published.
    public let version: String?
    /// The outcome of a done job: `completed`, `drafted`, `rendered`, `unchanged`, `superseded`, `cancelled`.
    public let outcome: String?
    /// The stage of the job at the last heartbeat of its worker.
    public let stage: String?
    /// The progress of a movie's render at the last heartbeat of its worker; nil for a photo.
    public let progress: JobProgress?
    /// For a dead job, the ``DeadGroup`` that counts it; nil if it died under an earlier release.
    public let group: String?
    /// The reason of a cancellation that the job's worker has not carried out yet.
    public package(set) var cancel: String?

    /// The latest format that this version of minilab knows. `Scripts/Shared/records.lua` lists the contents of each format.
    public static let formatKnown = 4
}

/// The job that the lines of a log are about.
///
/// It is bound to the task that works on a job, so that all code that logs there, such as the Redis client, adds `job`,
/// `asset` and `fence` without a parameter.
public struct LoggedJob: Sendable, Equatable {
    public let job: String
    /// The asset, as the producer sent it.
    public let asset: String
    /// The token of the hold.
    public let fence: String

    /// The job that the present task works on, if any.
    @TaskLocal public static var current: LoggedJob?

    public init(_ claim: Claim) {
        (job, asset, fence) = (claim.job, claim.asset, claim.fence)
    }

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

/// The rendered part of a movie.
public struct JobProgress: Sendable, Codable, Equatable, CustomStringConvertible {
    /// The number of rendered frames; at most ``frames``.
    public let framesDone: Int
    /// The number of frames of the movie, at least one.
    public let frames: Int

    /// Creates a progress and clamps both numbers to their ranges.
    public init(framesDone: Int, frames: Int) {
        self.frames = max(frames, 1)
        self.framesDone = min(max(framesDone, 0), self.frames)
    }

    /// The description for people: `43 %, 1032 of 2400 frames`.
    public var description: String {
        "\(framesDone * 100 / frames) %, \(framesDone) of \(frames) frames"
    }
}
