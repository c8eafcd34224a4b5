public import Logging
public import Redis
import Synchronization

/// Keeps the leases of a worker's jobs alive.
///
/// It has its own connection and runs on that connection's own thread, so that neither a busy worker
/// nor a blocked one stops it. The trust in a lease ends by the local clock, counted from the *start*
/// of the last renewal that succeeded, so that a slow reply cannot stretch it.
public actor Heartbeat {
    private let redis: RedisClient
    private let queue: JobQueue
    private let worker: WorkerInfo
    private let memory: @Sendable () -> WorkerMemory?
    private let pressure: @Sendable () -> WorkerInfo.Pressure?
    private let logger: Logger
    private let listener: HeartbeatTurn.Listener
    /// Behind a lock and not in the actor: two hops to its thread per job were a quarter of what a worker's
    /// processor time went to with jobs that do nothing.
    private let held = Mutex<[String: Hold]>([:])

    private struct Hold: Sendable {
        let fence: String
        let logged: LoggedJob?
        var trustedUntil: ContinuousClock.Instant
        let stage: @Sendable () -> String?
        let end: @Sendable (HoldEnd) -> Void
    }

    /// The thread of its connection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { redis.unownedExecutor }

    /// Part of the lease that is given up for safety: a worker stops trusting a lease this long before
    /// Redis ends it.
    static let safetyMargin = 0.1

    /// Beats of one lease: one may be lost without harm.
    static let beatsPerLease = 3

    /// A heartbeat for jobs of `queue`.
    ///
    /// - Parameters:
    ///   - redis: a client of its own, with its own thread.
    ///   - memory: figures of the moment, told with each beat; called on that thread, so it answers at once.
    ///   - pressure: how short of memory the worker is, likewise.
    public init(
        queue: JobQueue, redis: RedisClient, worker: WorkerInfo, logger: Logger,
        memory: @escaping @Sendable () -> WorkerMemory? = { nil },
        pressure: @escaping @Sendable () -> WorkerInfo.Pressure? = { nil },
        listener: @escaping HeartbeatTurn.Listener = { _ in }
    ) {
        self.worker = worker
        self.memory = memory
        self.pressure = pressure
        self.queue = JobQueue(name: queue.name, redis: redis, settings: queue.settings)
        self.redis = redis
        self.logger = logger
        self.listener = listener
    }

    /// Starts to renew a lease.
    ///
    /// - Parameters:
    ///   - since: when the claim was sent.
    ///   - stage: how far the job is; told to Redis with each beat.
    ///   - end: called when the job is no longer ours, or no longer wanted: its render must be killed.
    public nonisolated func hold(
        job: String, fence: String, since: ContinuousClock.Instant,
        stage: @escaping @Sendable () -> String? = { nil },
        end: @escaping @Sendable (HoldEnd) -> Void
    ) {
        let hold = Hold(
            fence: fence, logged: LoggedJob.current, trustedUntil: since + trust, stage: stage,
            end: end)
        held.withLock { $0[job] = hold }
    }

    /// Stops renewing a lease.
    public nonisolated func letGo(job: String, fence: String) {
        held.withLock { if $0[job]?.fence == fence { $0[job] = nil } }
    }

    /// Beats until the task is cancelled.
    public func run() async {
        let interval = queue.settings.lease / Self.beatsPerLease
        while !Task.isCancelled {
            await beat()
            listener(.turned)
            do {
                try await Task.sleep(for: interval)
            } catch {
                return  // cancelled: that is the end
            }
        }
    }

    /// One renewal of all leases; without any it says that the worker lives.
    func beat() async {
        let beating = Array(held.withLock { $0 })
        let started = ContinuousClock.now
        do {
            let beats = beating.map {
                Beat(job: $0.key, fence: $0.value.fence, stage: $0.value.stage())
            }
            let standings = try await queue.beat(
                beats,
                by: worker.with(busy: beating.count, memory: memory(), pressure: pressure()))
            listener(.renewed)
            for ((job, hold), standing) in zip(beating, standings) {
                switch standing {
                case .held: trust(job, hold.fence, from: started)
                case .cancelled:
                    trust(job, hold.fence, from: started)
                    hold.end(.cancelled)
                case .fenced:
                    lose(job, hold.fence, "Redis says that somebody else holds it or that it ended")
                }
            }
        } catch {
            listener(.failed("\(error)"))
            logger.warning("heartbeat failed", metadata: ["error": "\(error)"])
        }
        let now = ContinuousClock.now
        for (job, hold) in held.withLock({ $0 }) where hold.trustedUntil <= now {
            lose(job, hold.fence, "no heartbeat reached Redis for the length of its lease")
        }
    }

    private nonisolated var trust: Duration { queue.settings.lease * (1 - Self.safetyMargin) }

    private func trust(_ job: String, _ fence: String, from start: ContinuousClock.Instant) {
        let end = start + trust
        held.withLock { if $0[job]?.fence == fence { $0[job]?.trustedUntil = end } }
    }

    private func lose(_ job: String, _ fence: String, _ why: String) {
        let lost = held.withLock { held -> Hold? in
            held[job]?.fence == fence ? held.removeValue(forKey: job) : nil
        }
        guard let lost else { return }  // let go meanwhile
        LoggedJob.$current.withValue(lost.logged) { logger.warning("lease lost: \(why)") }
        lost.end(.lost)
    }
}

/// Why a worker has to stop what it does for a job.
public enum HoldEnd: Sendable {
    /// Somebody else has the job, or it has ended: nothing more may be written to it.
    case lost
    /// Nobody wants it any more: it is still ours, and we end it.
    case cancelled
}

/// One job in a heartbeat.
struct Beat {
    let job: String
    let fence: String
    let stage: String?
}

extension JobQueue {
    /// Renews leases; one answer per job, in order.
    func beat(
        _ beats: [Beat], by worker: WorkerInfo
    ) async throws(QueueError) -> [Standing] {
        var arguments = [
            RedisArgument(settings.lease.milliseconds), RedisArgument(worker.name),
            RedisArgument(json(worker)),
        ]
        for beat in beats {
            arguments += [
                RedisArgument(beat.job), RedisArgument(beat.fence), RedisArgument(beat.stage ?? ""),
            ]
        }
        let reply = try await run(QueueScript.beat, arguments)
        guard let answers = reply.array?.map(\.string), answers.count == beats.count else {
            throw unexpected(reply, of: QueueScript.beat)
        }
        return answers.map { $0 == "K" || $0 == "E" ? .held : $0 == "C" ? .cancelled : .fenced }
    }
}
