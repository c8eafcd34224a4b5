public import Adjustments
public import JobQueue
public import RenderProtocol

/// What a worker tells of its work, as it happens, to who counts it.
public enum WorkerEvent: Sendable {
    /// The claim loop asks for jobs: it does so at least every few seconds while a slot is free.
    case asksForJobs
    /// The claim loop waits until no job runs, because a quarantined one runs alone.
    case waitsForIdle
    /// Redis answered the claim loop or renewed the leases.
    case reachedRedis
    /// Redis did not take or answer a call.
    case missedRedis(RedisCall, String)
    /// The heartbeat has done one turn, with or without leases to renew.
    case beat
    /// The worker was told to stop: it claims no more.
    case drains
    /// A job takes a slot; how long it waited for that since its admission.
    case began(waited: Duration)
    /// An attempt has come to its end.
    case ended(AttemptEnd)
    /// A job has given its slot back.
    case freedSlot
    /// A render child has rendered all that was asked of one photo, the full picture or small ones alone.
    case rendered(RenderUse, Inspection, isFull: Bool)
    /// What keeps render children from doing harm on this machine.
    case confined(Confinement)
    /// The libraries that render children are made of.
    case libraries([LibraryVersion])
    /// The formats that these libraries fail to write and read; none at best.
    case formats(FormatGaps)
    /// A render child starts.
    case childStarts
    /// A render child is gone.
    case childEnded(ChildEnd)
    /// Memory is short, or no longer.
    case pressure(PressureStep)

    /// What a worker does because memory is short.
    public enum PressureStep: Sendable, Equatable {
        /// It goes to another level, because of what it has read.
        case level(PressureLevel, reading: String)
        /// It does something to a render.
        case render(RenderStep)
        /// So many renders stand still now.
        case paused(Int)
        /// It ends so many children that do nothing.
        case idleEnded(Int)
    }

    /// The library's store cannot be used, as this sentence says; or it can again.
    case store(trouble: String?)
    /// What renders were granted of the memory, or who waits for some, has changed.
    case memory(WorkerMemory)
    /// Memory was granted: how long that took, and how many requests that came before wait on.
    case admitted(bytes: Int, waited: Duration, passed: Int)
    /// Claims are held back since jobs that are claimed wait for memory; or they go on.
    case holdsClaims(Bool)

    /// What was asked of Redis.
    public enum RedisCall: String, Sendable {
        /// To admit and claim jobs.
        case claim
        /// To renew leases.
        case heartbeat
        /// To take the end of a job.
        case write
        /// To look for lost leases.
        case reap
        /// To hear what was cancelled.
        case listen
    }

    /// How an attempt ended.
    public enum AttemptEnd: Sendable, Equatable {
        /// A version or draft is in its place.
        case published
        /// There was nothing to do.
        case unchanged
        /// A part of another job is made.
        case part
        /// A newer edit was published before.
        case superseded
        /// It failed; the retry policy decides whether another follows.
        case failed(FailureCode)
        /// The asset changed meanwhile; it is rendered again.
        case rebased
        /// The worker stops and handed the job back.
        case handedBack
        /// The worker is short of memory and handed the job back.
        case requeued
        /// Nobody wants the job any more.
        case cancelled
        /// The lease ran out or somebody else has the job: nothing was changed.
        case lost
    }

    /// How a render child ended.
    public enum ChildEnd: Sendable, Equatable {
        /// By itself; 0 when it was told to.
        case exited(Int32)
        /// By itself, because an allocation failed.
        case outOfMemory
        /// By SIGKILL that we did not send: of the kernel because memory is short, of somebody else, or nil when it is
        /// not known.
        case killed(forMemory: Bool?)
        /// By the kernel: it took more processor time than its photo can need.
        case usedUpProcessor
        /// By the kernel: it wrote more than its photo can need.
        case filledDisk
        /// Killed because it answered what cannot be true.
        case untrusted
        /// By the kernel: it asked for what no photo needs.
        case madeForbiddenCall
        /// By another signal that we did not send.
        case signalled(Int32)
        /// Killed because a render took too long.
        case timedOut
        /// Killed because nobody wanted its answer any more.
        case cancelled
        /// Killed because another worker may have its job by now.
        case lostLease
        /// It never ran.
        case notStarted
    }

    /// Who is told: it returns at once and never calls back.
    public typealias Listener = @Sendable (WorkerEvent) -> Void
}

extension WorkerEvent {
    /// What a heartbeat tells.
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
