public import Logging
public import Redis
import Synchronization

/// Keeps the leases of a worker's jobs alive.
///
/// It has its own connection and runs on that connection's own thread, so that neither a busy worker
/// nor a blocked one stops it. The trust in a lease ends by the local clock, counted from the *start*
/// of the last renewal that succeeded, so that a slow reply cannot stretch it. It ends also while a beat hangs:
/// another task looks at the clock.
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
    private let holds = Mutex(BeatingHolds())
    private let contact = Mutex(RedisContact())

    /// The thread of its connection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { redis.unownedExecutor }

    /// Part of the lease that is given up for safety: a worker stops trusting a lease this long before
    /// Redis ends it.
    static let safetyMargin = 0.1

    /// Beats of one lease: one may be lost without harm.
    static let beatsPerLease = 3

    /// Tries in the time between two beats, after one that did not reach Redis.
    static let triesPerBeat = 4

    /// How old a claim is when the heartbeat confirms it before the next regular beat, which it does after twice that
    /// time at the latest. Jobs that end before cost no beat.
    static let confirmAge: Duration = .milliseconds(500)

    /// Looks at the clock during one lease: how late the end of trust may be noticed.
    static let looksPerLease = 50

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
    ///   - progress: how much of a movie is rendered, likewise.
    ///   - end: called when the job is no longer ours, or no longer wanted: its render must be killed.
    public nonisolated func hold(
        _ id: HoldID, since: ContinuousClock.Instant,
        stage: @escaping @Sendable () -> String? = { nil },
        progress: @escaping @Sendable () -> JobProgress? = { nil },
        end: @escaping @Sendable (HoldEnd) -> Void
    ) {
        let hold = BeatingHolds.Hold(
            logged: LoggedJob.current, began: .now, trustedUntil: since + trust, stage: stage,
            progress: progress, end: end)
        holds.withLock { $0.add(id, hold) }
    }

    /// Stops renewing a lease.
    public nonisolated func letGo(_ id: HoldID) { holds.withLock { $0.remove(id) } }

    /// Whether beats have reached Redis for a whole lease, so that all other workers could say that they live: then
    /// this worker may take back the leases that ran out.
    public nonisolated var mayReap: Bool {
        contact.withLock { $0.hasLasted(lease: queue.settings.lease, at: .now) }
    }

    /// Beats until the task is cancelled.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watchClock() }
            while !Task.isCancelled {
                let hasReached = await beat()
                listener(.turned)
                await waitForNextBeat(hasReached: hasReached)
            }
            group.cancelAll()
        }
    }

    private func waitForNextBeat(hasReached: Bool) async {
        let interval = queue.settings.lease / Self.beatsPerLease
        let next = ContinuousClock.now + (hasReached ? interval : interval / Self.triesPerBeat)
        repeat {
            let tick = min(next, .now + Self.confirmAge)
            guard await hasSlept(until: tick) else { return }
        } while .now < next
            && !holds.withLock { $0.hasUnconfirmed(for: Self.confirmAge, at: .now) }
    }

    /// Ends holds whose leases cannot be trusted any more, whatever the beat waits for.
    private func watchClock() async {
        let step = max(queue.settings.lease / Self.looksPerLease, .milliseconds(1))
        repeat {
            loseUntrusted()
        } while await hasSlept(
            until: min(holds.withLock(\.nextEnd) ?? .now + step, .now + step))
    }

    /// - Returns: false when the task was cancelled.
    private func hasSlept(until time: ContinuousClock.Instant) async -> Bool {
        do {
            try await Task.sleep(until: time, clock: .continuous)
            return true
        } catch {
            return false  // cancelled: that is the end
        }
    }

    /// One renewal of all leases; without any it says that the worker lives.
    ///
    /// - Returns: whether it reached Redis.
    @discardableResult
    func beat() async -> Bool {
        let beating = Array(holds.withLock(\.all))
        let started = ContinuousClock.now
        var hasReached = false
        do {
            let standings = try await queue.beat(
                beating.map {
                    Beat(
                        hold: $0.key, stage: $0.value.stage(), progress: $0.value.progress())
                },
                by: worker.with(
                    busy: min(beating.count, worker.slots), memory: memory(), pressure: pressure()))
            hasReached = true
            contact.withLock { $0.reach(at: started, lease: queue.settings.lease) }
            listener(.renewed)
            for ((id, hold), standing) in zip(beating, standings) {
                if standing == .fenced {
                    lose(id, "Redis says that somebody else holds it or that it ended")
                } else {
                    holds.withLock { $0.renew(id, until: started + trust) }
                    if standing == .cancelled { hold.end(.cancelled) }
                }
            }
            try await tellOfLost()
        } catch {
            listener(.failed("\(error)"))
            logger.warning("heartbeat failed", metadata: ["error": "\(error)"])
        }
        loseUntrusted()
        return hasReached
    }

    private nonisolated var trust: Duration { queue.settings.lease * (1 - Self.safetyMargin) }

    private func loseUntrusted() {
        for id in holds.withLock({ $0.untrusted(at: .now) }) {
            lose(id, "no heartbeat reached Redis for the length of its lease")
        }
    }

    private func lose(_ id: HoldID, _ why: String) {
        guard let lost = holds.withLock({ $0.lose(id) }) else { return }  // let go meanwhile
        LoggedJob.$current.withValue(lost.logged) { logger.warning("lease lost: \(why)") }
        lost.end(.lost)
    }

    /// Says of the holds that were lost that this worker lives: their leases ran out, and it did not crash.
    private func tellOfLost() async throws(QueueError) {
        let lost = Array(holds.withLock(\.untold))
        guard !lost.isEmpty else { return }
        let pardons: JobQueue.Pardons
        do {
            pardons = try await queue.pardon(lost)
        } catch {
            // It would be answered the same again.
            if error.code == .unexpectedReply { holds.withLock { $0.tell(lost) } }
            throw error
        }
        holds.withLock { $0.tell(lost) }
        logger.notice(
            "told Redis that leases ran out while this worker lived",
            metadata: ["released": "\(pardons.released)", "pardoned": "\(pardons.pardoned)"])
    }
}
