public import Edits
public import JobQueue
public import RenderPool

/// An event in the work of a worker, for metrics.
public enum WorkerEvent: Sendable {
    /// The claim loop requests jobs: at least every few seconds while a slot is free.
    case asksForJobs
    /// The claim loop waits until no job runs, because a quarantined job runs alone.
    case waitsForIdle
    /// Redis answered the claim loop or renewed the leases.
    case reachedRedis
    /// Redis did not accept or answer a call.
    case missedRedis(RedisCall, String)
    /// The heartbeat has done one turn, with or without leases to renew.
    case beat
    /// The worker was asked to stop and claims no more jobs.
    case drains
    /// A job takes a slot, after this time since its admission.
    case began(waited: Duration)
    /// An attempt has ended.
    case ended(AttemptEnd)
    /// A job has released its slot.
    case freedSlot
    /// An event of the render children and their memory.
    case render(RenderEvent)
    /// The library's store is unusable, for the reason in this message; nil: it is usable again.
    case store(trouble: String?)
    /// Claims are stopped because claimed jobs wait for memory; false: claims resume.
    case pausesClaims(Bool)

    /// The purpose of a call to Redis.
    public enum RedisCall: String, Sendable {
        /// To admit and claim jobs.
        case claim
        /// To renew leases.
        case heartbeat
        /// To write the end of a job.
        case write
        /// To find lost leases.
        case reap
        /// To receive cancellations.
        case listen
    }

    /// The end of an attempt.
    public enum AttemptEnd: Sendable, Equatable {
        /// A version or draft is published.
        case published
        /// There was nothing to do.
        case unchanged
        /// A part of another job is finished.
        case part
        /// A newer edit was already published.
        case superseded
        /// The attempt failed. The retry policy decides whether another follows.
        case failed(FailureCode)
        /// The asset changed during the render; the job is rendered again.
        case rebased
        /// The worker stops and has returned the job.
        case handedBack
        /// The worker is short of memory and has returned the job.
        case requeued
        /// The job was cancelled.
        case cancelled
        /// The lease expired or another worker has the job. The attempt changed nothing.
        case lost
    }

    /// The receiver of events. It returns immediately and never calls back.
    public typealias Listener = @Sendable (WorkerEvent) -> Void
}

extension WorkerEvent {
    /// Creates the event of a heartbeat's turn.
    public init(_ turn: HeartbeatTurn) {
        self =
            switch turn {
            case .turned: .beat
            case .renewed: .reachedRedis
            case .failed(let reason): .missedRedis(.heartbeat, reason)
            }
    }
}

extension WorkerEvent.AttemptEnd {
    /// One word, for metrics and logs.
    public var outcome: String {
        switch self {
        case .published: "published"
        case .unchanged: "unchanged"
        case .part: "part"
        case .superseded: "superseded"
        case .failed: "failed"
        case .rebased: "rebased"
        case .handedBack: "handed_back"
        case .requeued: "requeued"
        case .cancelled: "cancelled"
        case .lost: "lost"
        }
    }
}
