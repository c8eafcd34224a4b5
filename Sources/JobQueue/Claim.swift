/// A job that a worker holds: under a lease, as long as its fence is the job's newest.
public struct Claim: Sendable, Equatable {
    /// The job.
    public let job: String
    /// The token of this hold. Every write carries it; Redis refuses an old one.
    public let fence: String
    /// The asset, as it was sent: within the size limit, otherwise unchecked.
    public let asset: String
    /// The edit, as it was sent, likewise.
    public let edit: String
    /// How often the job was started from the dead, plus one.
    public let generation: Int
    /// Failed attempts of this generation so far.
    public let attempts: Int
    /// Workers that died over this generation so far.
    public let crashes: Int
    /// How often the asset changed under a render.
    public let rebases: Int
    /// From admission to this claim.
    public let queued: Duration
    /// Its batch, or nil.
    public let batch: String?
    /// Who asked for it.
    public let tenant: String
    /// Whether it is in quarantine: nothing else may run beside it.
    public let isAlone: Bool
    /// When it was sent, in µs since 1970, by the clock of the queue's server: edits of one asset count in this order.
    public let arrival: Int

    /// The job that it is a part of, or nil. A part's ``edit`` is the task that its job gave.
    public let parent: String?

    /// Which part it is; nil for what is no part.
    public var part: Int? {
        parent == nil ? nil : job.split(separator: "+").last.flatMap { Int($0) }
    }

    /// This hold of the job.
    public var hold: HoldID { HoldID(job: job, fence: fence) }

    /// Which attempt of this generation it is, from 1.
    public var attempt: Int { attempts + crashes + 1 }
}

/// A job that its worker left between commit and finalize: carried on from the pointer.
public struct CarriedJob: Sendable, Equatable {
    /// The job.
    public let job: String
    /// The token of the new hold.
    public let fence: String
    /// The asset.
    public let asset: String
    /// The version that was to be published.
    public let version: String
    /// How often the job was started from the dead, plus one.
    public let generation: Int
    /// How often it has been carried on, this time included.
    public let carries: Int
}
