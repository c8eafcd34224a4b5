public import Adjustments
public import JobQueue
public import RenderProtocol

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
    /// The worker was told to stop and claims no more jobs.
    case drains
    /// A job takes a slot, after this time since its admission.
    case began(waited: Duration)
    /// An attempt has ended.
    case ended(AttemptEnd)
    /// A job has released its slot.
    case freedSlot
    /// A render child has rendered all outputs of one photo. `isFull` tells whether they include the full picture.
    case rendered(RenderUse, Inspection, isFull: Bool)
    /// The confinement of render children on this machine.
    case confined(Confinement)
    /// The libraries that render children use.
    case libraries([LibraryVersion])
    /// The formats that these libraries fail to write or read; normally none.
    case formats(FormatGaps)
    /// A render child starts.
    case childStarts
    /// A render child has ended.
    case childEnded(ChildEnd)
    /// Memory has become short, or is no longer short.
    case pressure(PressureStep)

    /// The worker's reaction to memory pressure.
    public enum PressureStep: Sendable, Equatable {
        /// The pressure level has changed, because of this reading.
        case level(PressureLevel, reading: String)
        /// The worker pauses, resumes or ends a render.
        case render(RenderStep)
        /// The number of paused renders.
        case paused(Int)
        /// The number of idle children that are ended.
        case idleEnded(Int)
    }

    /// The library's store is unusable, for the reason in this message; nil: it is usable again.
    case store(trouble: String?)
    /// The granted memory or the list of waiting requests has changed.
    case memory(WorkerMemory)
    /// Memory was granted, after this wait. `passed` counts earlier requests that still wait.
    case admitted(bytes: Int, waited: Duration, passed: Int)
    /// Claims are stopped because claimed jobs wait for memory; false: claims resume.
    case holdsClaims(Bool)

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

    /// The end of a render child.
    public enum ChildEnd: Sendable, Equatable {
        /// The child exited by itself; 0 if it was told to end.
        case exited(Int32)
        /// The child exited by itself because an allocation failed.
        case outOfMemory
        /// The child was killed by SIGKILL that the worker did not send. `true`: by the kernel because memory is
        /// short; `false`: by another process; nil: unknown.
        case killed(forMemory: Bool?)
        /// The kernel killed the child: it used more processor time than its photo can need.
        case usedUpProcessor
        /// The kernel killed the child: it wrote more than its photo can need.
        case filledDisk
        /// The worker killed the child because its reply was impossible.
        case untrusted
        /// The kernel killed the child: it made a system call that no render needs.
        case madeForbiddenCall
        /// The child was killed by another signal that the worker did not send.
        case signalled(Int32)
        /// The worker killed the child because a render took too long.
        case timedOut
        /// The worker killed the child because its answer was no longer needed.
        case cancelled
        /// The worker killed the child because another worker may hold its job by now.
        case lostLease
        /// The child was never started.
        case notStarted
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

extension WorkerEvent.ChildEnd {
    init(_ death: ChildDeath) {
        self =
            switch death {
            case .notStarted: .notStarted
            case .exited(let code): .exited(code)
            case .outOfMemory: .outOfMemory
            case .killed(let forMemory): .killed(forMemory: forMemory)
            case .usedUpProcessor: .usedUpProcessor
            case .filledDisk: .filledDisk
            case .madeForbiddenCall: .madeForbiddenCall
            case .untrusted: .untrusted
            case .signalled(let signal): .signalled(signal)
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .lostLease: .lostLease
            }
    }
}
