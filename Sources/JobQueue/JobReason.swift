/// Why a job is where it is: a closed set of codes with their numbers. `Operations` has the words.
///
/// Times are ms since 1970 by Redis' clock; spans are ms. `ahead` is how many jobs are likely to come first; `about` how long
/// that takes, nil while nothing is known of it.
public enum JobReason: Sendable, Equatable {
    // It waits.
    /// Its record is of a format that a newer minilab wrote.
    case laterFormat(state: String, format: Int)
    /// Its batch was cancelled; it ends when its turn comes.
    case batchCancelled(reason: String)
    /// Something stops all jobs, or all of its tenant.
    case stopped(by: Stop, at: Place)
    /// Workers died over it; it waits for one that does nothing else.
    case quarantined(crashes: Int, ahead: Int)
    /// As many jobs of its tenant run as may.
    case tenantCap(tenant: String, cap: Int, ahead: Int, about: Int?)
    /// All slots are taken.
    case freeSlot(ahead: Int, about: Int?)
    /// It is in the lane of its batch.
    case inLane(batch: String, ahead: Int, about: Int?)
    /// It is not taken in yet.
    case incoming(entries: Int, hasWorkers: Bool, hold: IngressHold?)
    /// It is tried again later. `wait` is 0 or less when that is due.
    case retryAt(due: Int, wait: Int, failures: Int, error: Failing)
    /// It is not begun before a time.
    case notBefore(due: Int, wait: Int)
    /// Another job of its asset comes first.
    case behindAsset(asset: String, holder: Holder?)

    // A worker has it.
    /// It is being made.
    case running(worker: String, since: Int?, stage: Stage?, attempt: Int)
    /// Its worker was told to stop.
    case beingStopped(worker: String, reason: String)
    /// Its worker has not been heard of since its lease ended.
    case leaseLost(worker: String, ago: Int)
    /// Its version is made current.
    case publishing(worker: String, version: Version)
    /// Its version could not be made current; that is tried again.
    case publishingAgain(version: Version, error: Failing)

    // Somebody has to look, or it has ended.
    /// Its version could not be published however often that was tried.
    case stuck(since: Int?, version: Version, error: Failing)
    /// It was cancelled.
    case cancelled(at: Int?, reason: String?)
    /// There was nothing to do.
    case unchanged(at: Int?)
    /// An edit that arrived later was published before.
    case superseded(at: Int?, asset: String)
    /// Its version is a draft.
    case drafted(at: Int?, version: Version)
    /// Its version was published.
    case published(at: Int?, worker: String, version: Version)
    /// It failed for good.
    case dead(at: Int?, error: Failing, advice: Advice)
    /// It was done so long ago that only its name is left.
    case dropped
    /// Nobody knows it.
    case unknown(entries: Int, hasWorkers: Bool, hold: IngressHold?)
    /// Its batch has no such job; why the batch was cancelled, if it was.
    case unknownMember(batch: String, cancelled: String?)

    /// A reason that stops jobs that could run.
    public enum Stop: Sendable, Equatable {
        /// The queue is paused, for this reason.
        case queuePaused(reason: String)
        /// The tenant is paused.
        case tenantPaused(String)
        /// No worker runs.
        case noWorker
    }

    /// Where a job waits that is stopped.
    public enum Place: Sendable, Equatable {
        /// Among the jobs of its tenant.
        case ready(ahead: Int)
        /// In the lane of its batch.
        case lane(batch: String, ahead: Int)
    }

    /// Why an attempt failed.
    public struct Failing: Sendable, Equatable {
        /// For programs; `?` when Redis has lost it.
        public let code: String
        /// For people.
        public let message: String
    }

    /// The job that has an asset.
    public struct Holder: Sendable, Equatable {
        /// The job.
        public let job: String
        /// Its state.
        public let state: String
        /// How many more jobs of the asset come before.
        public let ahead: Int
    }

    /// How far a job is.
    public struct Stage: Sendable, Equatable {
        /// The worker's word for it.
        public let name: String
        /// How much of a movie is done.
        public let progress: JobProgress?
    }

    /// A version of an asset.
    public struct Version: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// Of which asset.
        public let asset: String
    }

    /// The advice for a dead job.
    public enum Advice: String, Sendable {
        /// There is nothing to run: send it as it should be.
        case sendAgain
        /// Something crashed: report it, then replay.
        case reportAndReplay
        /// A replay has no deadline.
        case replayWithoutDeadline
        /// Replay when the cause is gone.
        case replay
        /// Replay with another edit, or send another job.
        case changeEdit
    }

    /// Its code: stable, for programs.
    public var code: String {
        switch self {
        case .laterFormat: "laterFormat"
        case .batchCancelled: "batchCancelled"
        case .stopped(.queuePaused, _): "queuePaused"
        case .stopped(.tenantPaused, _): "tenantPaused"
        case .stopped(.noWorker, _): "noWorker"
        case .quarantined: "quarantined"
        case .tenantCap: "tenantCap"
        case .freeSlot: "freeSlot"
        case .inLane: "inLane"
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
        case .unknown, .unknownMember: "unknown"
        }
    }
}
