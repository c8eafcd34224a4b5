public import Edits

/// The record of one job in Redis.
public struct JobRecord: Sendable, Codable, Equatable {
    /// The job.
    public let job: String
    /// The format of the record. A record of a format above ``formatKnown`` is decoded as far as it is understood.
    public let format: Int
    /// The state of the job.
    public let state: JobState
    /// The asset.
    public let asset: String
    /// The tenant that the job belongs to.
    public let tenant: String
    /// The priority of the job; `alone` means quarantine.
    public let priority: String
    /// The job's batch, or nil.
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
    /// The message of the last failed attempt, for people.
    public package(set) var message: String?
    /// The token of the newest hold.
    public let fence: String?
    /// The version that the job published.
    public let version: String?
    /// The outcome of a done job: `completed`, `drafted`, `unchanged`, `superseded`, `cancelled`.
    public let outcome: String?
    /// The stage of the job at the last heartbeat of its worker.
    public let stage: String?
    /// The progress of a movie's render at the last heartbeat of its worker; nil for a photo.
    public let progress: JobProgress?
    /// For a dead job, the ``DeadGroup`` that counts it; nil if it died under an earlier release.
    public let group: String?
    /// The reason of a cancellation that the job's worker has not carried out yet.
    public package(set) var cancel: String?

    /// The latest format that this version of minilab knows. `Scripts/Shared/base.lua` lists the contents of each format.
    public static let formatKnown = 3
}
