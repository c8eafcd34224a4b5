public import Adjustments
public import JobQueue

/// Makes, publishes and discards what jobs ask for.
///
/// A handler knows no queue: ``JobRunner`` calls it and tells the queue what came of it, so commit, publish and
/// finalize are written once. ``PhotoJobHandler`` works on a library of photos; minilab-bench has one that does
/// nothing and one that publishes marks, for `ops/chaos`.
public protocol JobHandler: Sendable {
    /// Whether a job spends time on the way of its files, in which others can be rendered.
    var filesTravel: Bool { get }

    /// Makes what a job asks for and stages it, where every process can find it that may have to publish it.
    ///
    /// - Parameters:
    ///   - hold: ends the call, by cancelling its task, when the job is not wanted or not ours any more.
    ///   - desk: where the queue is told and asked of the job meanwhile.
    /// - Throws: a `Failure`; `RenderRequeued` when the worker is short of memory; `CancellationError`.
    func make(
        _ claim: Claim, _ hold: JobHold, _ desk: JobDesk
    ) async throws -> MadeJob

    /// Makes a staged version current. Idempotent: after a crash anywhere in it, any process can call it again.
    func publish(_ version: CommittedVersion) async throws(Failure) -> PublishOutcome

    /// Removes what is staged for a hold; nothing being there is no failure.
    func discard(_ hold: StagedHold) async throws(Failure)

    /// Removes what is staged for a hold of which the queue knows nothing, or not any more.
    ///
    /// - Returns: false when it was left, because a living worker makes it: for another server's queue, or for one that
    ///   does not know yet that it lost the job.
    func sweep(_ hold: StagedHold) async throws(Failure) -> Bool

    /// The holds for which something is staged, by any worker of the queue.
    func staged() async throws(Failure) -> [StagedHold]

    /// Asks the place of versions whether it can be used; only after a `storeUnavailable` or `noSpace`.
    ///
    /// - Throws: one of them when it still cannot.
    func reach() async throws(Failure)
}

extension JobHandler {
    public var filesTravel: Bool { false }
}

/// What came of a job's edit.
public enum MadeJob: Sendable {
    /// A version is complete in staging; the event is sent when it is published.
    case version(JobEvent.Completed, isDraft: Bool)
    /// There was nothing to do.
    case nothing(JobEvent.Unchanged)
    /// A part of another job is made, which that job's worker finds.
    case part
    /// A newer edit was published before, and nothing was made.
    case superseded(JobEvent.Superseded)
}

/// A version that the queue has recorded as about to be published.
public struct CommittedVersion: Sendable, Equatable {
    /// The job.
    public let job: String
    /// How often the job was started from the dead, plus one. A generation is published at most once.
    public let generation: Int
    /// The fence of the hold that publishes, which need not be the one that made the version.
    public let fence: String
    /// The version's name.
    public let name: String
    /// The asset, as it was sent.
    public let asset: String

    /// The hold that made it: a version's name ends in its fence.
    public var madeBy: StagedHold {
        StagedHold(job: job, fence: Self.fence(inName: name))
    }

    static func fence(inName name: String) -> String {
        String(name[(name.lastIndex(of: "-").map(name.index(after:)) ?? name.startIndex)...])
    }

    /// A version of a job.
    public init(job: String, generation: Int, fence: String, name: String, asset: String) {
        self.job = job
        self.generation = generation
        self.fence = fence
        self.name = name
        self.asset = asset
    }
}

/// What became of a version that was to be published.
public enum PublishOutcome: Sendable, Equatable {
    /// It is current now, or the draft.
    case published
    /// The job's generation was published before: by us ahead of a crash, or by another worker.
    case alreadyPublished
    /// It cannot be published any more, for this reason: it has to be made again.
    case outdated(String)
}

/// A hold of a job, under whose names a handler stages what it makes. A fence never comes back.
public struct StagedHold: Sendable, Equatable {
    /// The job.
    public let job: String
    /// The fence of the hold.
    public let fence: String

    /// A hold.
    public init(job: String, fence: String) {
        self.job = job
        self.fence = fence
    }
}
