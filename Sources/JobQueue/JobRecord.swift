public import Adjustments

/// What Redis knows about one job.
public struct JobRecord: Sendable, Codable, Equatable {
    /// The job.
    public let job: String
    /// The format of the record: ``formatKnown`` at most, or it is read as far as it is understood.
    public let format: Int
    /// Where it is.
    public let state: JobState
    /// The asset.
    public let asset: String
    /// Who asked for it.
    public let tenant: String
    /// How urgent it is; `alone` is quarantine.
    public let priority: String
    /// Its batch, or nil.
    public let batch: String?
    /// How often the job was started from the dead, plus one.
    public let generation: Int
    /// Failed attempts of this generation.
    public let attempts: Int
    /// Workers that died over this generation.
    public let crashes: Int
    /// Who holds it, or held it last.
    public package(set) var worker: String?
    /// When it was admitted, ms since 1970.
    public let enqueued: Int
    /// When it was claimed last, ms since 1970.
    public let claimed: Int?
    /// When it was done or dead, ms since 1970.
    public let ended: Int?
    /// Why the last attempt failed, for programs.
    public let code: FailureCode?
    /// Why the last attempt failed, for people.
    public package(set) var message: String?
    /// The token of the newest hold.
    public let fence: String?
    /// The version it published.
    public let version: String?
    /// How a done job ended: `completed`, `drafted`, `unchanged`, `superseded`, `cancelled`.
    public let outcome: String?
    /// How far its worker was when it was last heard of.
    public let stage: String?
    /// How much of its movie is rendered, as it was when its worker was last heard of; nil for a photo.
    public let progress: JobProgress?
    /// Of a dead job, the ``DeadGroup`` in which it is counted; nil when it died under an earlier release.
    public let group: String?
    /// Why it was cancelled, while its worker has not ended it yet.
    public package(set) var cancel: String?

    /// The latest format that this version of minilab knows: `Scripts/Shared/base.lua` says what each has.
    public static let formatKnown = 3
}
