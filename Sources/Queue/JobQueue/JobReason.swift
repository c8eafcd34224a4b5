/// The reason for a job's state: a closed set of codes with their numbers. `Operations` has the texts.
///
/// Times are ms since 1970 by Redis' clock; spans are ms. `ahead` is the number of jobs that are likely to run first; `about` is
/// the time that they take, nil while it is unknown.
public enum JobReason: Sendable, Equatable {
    // The job waits.
    /// The job's record has a format that a newer minilab wrote.
    case laterFormat(state: String, format: Int)
    /// The job's batch was cancelled; the job ends when its turn comes.
    case batchCancelled(reason: String)
    /// All jobs, or all jobs of the tenant, are stopped.
    case stopped(by: Stop, at: Position)
    /// Workers died while they ran the job; it waits for a worker that holds no other job.
    case quarantined(crashes: Int, ahead: Int)
    /// The tenant has reached its limit of running jobs.
    case tenantCap(tenant: String, cap: Int, ahead: Int, about: Int?)
    /// The machines of some workers cannot do the job; it waits for another one.
    case ableWorker(unable: Int, ahead: Int, about: Int?)
    /// All slots are in use.
    case freeSlot(ahead: Int, about: Int?)
    case inBatchStream(batch: String, ahead: Int, about: Int?)
    /// The job is not admitted yet.
    case incoming(entries: Int, hasWorkers: Bool, hold: IngressHold?)
    /// The job will be retried. `wait` is 0 or less if the retry is due.
    case retryAt(due: Int, wait: Int, failures: Int, error: Failing)
    /// The job does not start before a given time.
    case notBefore(due: Int, wait: Int)
    /// An earlier job of the same asset comes first.
    case behindAsset(asset: String, holder: Holder?)

    // A worker holds the job.
    /// The job is being rendered.
    case running(worker: String, since: Int?, stage: Stage?, attempt: Int)
    /// The job was cancelled and its worker notified.
    case beingStopped(worker: String, reason: String)
    /// The job's worker has sent no heartbeat since its lease expired.
    case leaseLost(worker: String, ago: Int)
    /// The job's version is being published.
    case publishing(worker: String, version: Version)
    /// The job's version could not be published; another attempt follows.
    case publishingAgain(version: Version, error: Failing)

    // An operator must act, or the job has ended.
    /// The job's version could not be published in all permitted attempts.
    case stuck(since: Int?, version: Version, error: Failing)
    /// The job was cancelled.
    case cancelled(at: Int?, reason: String?)
    /// The job had nothing to do.
    case unchanged(at: Int?)
    /// An edit that arrived later was published first.
    case superseded(at: Int?, asset: String)
    /// The job's version is a draft.
    case drafted(at: Int?, version: Version)
    /// The job's version was published.
    case published(at: Int?, worker: String, version: Version)
    /// The job failed permanently.
    case dead(at: Int?, error: Failing, advice: Advice)
    /// The job was done so long ago that only its name is left.
    case dropped
    /// The queue does not know the job.
    case unknown(entries: Int, hasWorkers: Bool, hold: IngressHold?)
    /// The batch has no such job.
    case unknownMember(batch: String, Absence)

    /// The reason why a batch has no job of a number.
    public enum Absence: Sendable, Equatable {
        /// The batch is sealed at fewer jobs: an entry beyond them never becomes a job.
        case beyondSeal(jobs: Int)
        /// The stream has had no such entry yet.
        case notSent
        /// A producer dropped the entry unread; the batch counts it as cancelled.
        case trimmed
        /// Redis lost the record.
        case lost
        /// The stream has entries, but no batch of this name was opened.
        case unopened
        /// The batch ended, and its record was dropped.
        case batchDropped
    }

    /// A condition that stops jobs that could run.
    public enum Stop: Sendable, Equatable {
        case queuePaused(reason: String)
        case tenantPaused(String)
        /// No worker runs.
        case noWorker
        /// No worker claims jobs; this is the trouble of one of them.
        case workersInTrouble(Int, trouble: String)
    }

    /// The position at which a stopped job waits.
    public enum Position: Sendable, Equatable {
        /// Among the jobs of its tenant.
        case ready(ahead: Int)
        case batchStream(batch: String, ahead: Int)
    }

    /// The failure of an attempt.
    public struct Failing: Sendable, Equatable {
        /// The code, for programs; `?` if Redis has lost it.
        public let code: String
        /// The message, for people.
        public let message: String
    }

    /// The job that holds an asset.
    public struct Holder: Sendable, Equatable {
        public let job: String
        public let state: String
        /// The number of further jobs of the asset that come before.
        public let ahead: Int
    }

    /// The progress of a running job.
    public struct Stage: Sendable, Equatable {
        /// The worker's name for the stage.
        public let name: String
        /// The rendered part of a movie.
        public let progress: JobProgress?
    }

    /// A version of an asset.
    public struct Version: Sendable, Equatable {
        public let name: String
        public let asset: String
    }

    /// The advice for a dead job.
    public enum Advice: String, Sendable {
        /// The job has nothing to run: send a correct request.
        case sendAgain
        /// A process crashed: report it, then replay.
        case reportAndReplay
        /// Replay, because a replay has no deadline.
        case replayWithoutDeadline
        /// Replay when the cause is fixed.
        case replay
        /// Replay with another edit, or send another job.
        case changeEdit
    }

    /// The code of the reason: stable, for programs.
    public var code: String {
        switch self {
        case .laterFormat: "laterFormat"
        case .batchCancelled: "batchCancelled"
        case .stopped(.queuePaused, _): "queuePaused"
        case .stopped(.tenantPaused, _): "tenantPaused"
        case .stopped(.noWorker, _): "noWorker"
        case .stopped(.workersInTrouble, _): "workersInTrouble"
        case .quarantined: "quarantined"
        case .tenantCap: "tenantCap"
        case .ableWorker: "ableWorker"
        case .freeSlot: "freeSlot"
        case .inBatchStream: "inLane"
        case .incoming: "incoming"
        case .retryAt: "retryAt"
        case .notBefore: "notBefore"
        case .behindAsset: "behindAsset"
        case .running: "running"
        case .beingStopped: "beingStopped"
        case .leaseLost: "leaseLost"
        case .publishing: "publishing"
        case .publishingAgain: "publishingAgain"
        case .stuck: "stuck"
        case .cancelled: "cancelled"
        case .unchanged: "unchanged"
        case .superseded: "superseded"
        case .drafted: "drafted"
        case .published: "published"
        case .dead: "dead"
        case .dropped: "dropped"
        case .unknownMember(_, .beyondSeal): "beyondSeal"
        case .unknownMember(_, .notSent): "notSent"
        case .unknownMember(_, .trimmed): "trimmed"
        case .unknownMember(_, .lost): "lost"
        case .unknownMember(_, .unopened): "unopened"
        case .unknown, .unknownMember(_, .batchDropped): "unknown"
        }
    }
}
