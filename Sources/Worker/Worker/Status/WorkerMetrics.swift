import Edits
import Files
public import JobQueue
public import RenderPool
public import Telemetry

/// The metrics of a worker since its start, and its health.
public struct WorkerMetrics: Sendable {
    private let all: Metrics
    public let rendering: RenderMetrics
    let health: WorkerHealth
    private let busy: Gauge
    private let draining: Gauge
    private let claims: Counter
    private let waits: Histogram
    private let attempts: Counter
    private let leasesLost: Counter
    private let claimsHeld: Gauge
    private let storeAway: Gauge
    private let diskFree: Gauge
    private let diskSize: Gauge
    private let redisFailures: Counter
    private let requeued: Counter

    /// Creates metrics with the value 0.
    ///
    /// - Parameters:
    ///   - all: an empty set of metrics.
    ///   - worker: The worker's name, as in events and logs.
    public init(
        _ all: Metrics = Metrics(), version: String = "", commit: String? = nil,
        worker: String = "", queue: String = "", slots: Int = 1, lease: Duration = .zero
    ) {
        self.all = all
        health = WorkerHealth(slots: slots, lease: lease)
        all.buildInfo(version, commit)
        all.gauge(
            "minilab_worker_info", "The worker's name in events and logs, and its queue.",
            labels: ["worker", "queue"]
        ).set(1, worker, queue)
        all.gauge("minilab_slots", "Jobs that the worker may process at the same time.")
            .set(Double(slots))
        busy = all.gauge(
            "minilab_slots_busy",
            "Jobs that the worker processes. With a bucket, the number can exceed its slots while files are "
                + "transferred.")
        draining = all.gauge(
            "minilab_draining", "1 when the worker was asked to stop and claims no more jobs.")
        claims = all.counter("minilab_claims_total", "Jobs that the worker has claimed.")
        waits = all.histogram(
            "minilab_queue_wait_seconds", "Time from admission of a job to its claim.", .waits)
        attempts = all.counter(
            "minilab_attempts_total",
            "Attempts that have ended. code is the reason for a failure (ops/RUNBOOK.md).",
            labels: ["outcome", "code"])
        leasesLost = all.counter(
            "minilab_leases_lost_total",
            "Jobs whose lease this worker lost to another worker while it processed them.")
        rendering = RenderMetrics(all)
        storeAway = all.gauge(
            "minilab_store_away",
            "1 while the library's object store or the scratch folder cannot be used and no jobs are claimed."
        )
        diskFree = all.gauge(
            "minilab_disk_free_bytes",
            "Free bytes of the disk with the library, or with the scratch folder of one in a bucket."
        )
        diskSize = all.gauge("minilab_disk_bytes", "All bytes of that disk.")
        claimsHeld = all.gauge(
            "minilab_claims_held",
            "1 while no jobs are claimed because claimed jobs wait for memory.")
        redisFailures = all.counter(
            "minilab_redis_failures_total",
            "Calls that failed because Redis did not accept or answer them.", labels: ["call"])
        requeued = all.counter(
            "minilab_memory_requeued_total", "Jobs handed back because memory is short.")
    }

    enum RedisCall: String, CaseIterable {
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

    /// Counts a call that Redis did not accept or answer.
    func missedRedis(_ call: RedisCall, _ error: any Error) {
        redisFailures.add(1, call.rawValue)
        // Both calls are made continuously, and continuously succeed while Redis is available.
        if call == .claim || call == .heartbeat { health.set(.redis, "\(error)") }
    }

    public func note(_ turn: HeartbeatTurn) {
        switch turn {
        case .turned: health.beats()
        case .renewed: health.set(.redis, nil)
        case .failed(let reason):
            redisFailures.add(1, RedisCall.heartbeat.rawValue)
            health.set(.redis, reason)
        }
    }

    /// Notes the space of the disk to which versions are written.
    func finds(_ space: DiskSpace) {
        diskFree.set(Double(space.free))
        diskSize.set(Double(space.total))
    }

    /// Notes that the worker was asked to stop.
    func drains() {
        draining.set(1)
        health.drains()
    }

    /// Notes that a job takes a slot, after this time since its admission.
    func begins(after waited: Duration) {
        busy.add(1)
        claims.add()
        waits.record(waited / .seconds(1))
        health.begins()
    }

    /// Notes that a job has released its slot.
    func freesSlot() {
        busy.add(-1)
        health.freesSlot()
    }

    func count(_ end: AttemptEnd) {
        attempts.add(1, end.outcome, end.code)
        if end == .lost { leasesLost.add() }
        if end == .requeued { requeued.add() }
    }

    /// Notes that claims are stopped, or resume.
    func pausesClaims(_ pauses: Bool) {
        claimsHeld.set(pauses)
        health.pausesClaims(pauses)
    }

    /// Notes why the library's store is unusable; nil: it is usable.
    func setStore(trouble: String?) {
        storeAway.set(trouble != nil)
        health.set(.store, trouble)
    }

    public func families() -> [MetricFamily] { all.families() + health.families() }
}

enum AttemptEnd: Sendable, Equatable {
    /// A version or draft is published.
    case published
    /// Renditions of a version were made.
    case rendered
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
    case cancelled
    /// The lease expired or another worker has the job. The attempt changed nothing.
    case lost

    /// One word, for metrics and logs.
    var outcome: String {
        switch self {
        case .published: "published"
        case .rendered: "rendered"
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

    /// The code of a failure. To Prometheus, a label without a value does not exist.
    var code: String {
        if case .failed(let code) = self { code.rawValue } else { "" }
    }
}
