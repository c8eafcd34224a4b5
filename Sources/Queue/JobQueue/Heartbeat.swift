import Edits
public import Logging
public import Redis
import Synchronization

/// Renews the leases of a worker's jobs.
///
/// A heartbeat has its own connection and runs on that connection's own thread, so neither a busy worker nor a blocked one
/// delays it. The trust in a lease ends by the local clock, counted from the *start* of the last renewal that succeeded, so
/// that a slow reply cannot extend it. Trust also ends while a beat hangs, because a separate task watches the clock.
public actor Heartbeat {
    private let redis: RedisClient
    private let queue: JobQueue
    private let worker: WorkerInfo
    private let memory: @Sendable () -> WorkerMemory?
    private let pressure: @Sendable () -> WorkerInfo.Pressure?
    private let trouble: @Sendable () -> String?
    private let logger: Logger
    private let listener: HeartbeatTurn.Listener
    /// Behind a lock and not in the actor: with jobs that do nothing, two hops to the actor's thread per job took a quarter of a
    /// worker's processor time.
    private let holds = Mutex(BeatingHolds())
    private let contact = Mutex(RedisContact())
    /// When a warning told last that another living worker has this one's name.
    private var sharedNameTold: ContinuousClock.Instant?

    /// The thread of its connection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { redis.unownedExecutor }

    /// The fraction of the lease that is given up for safety: a worker stops trusting a lease this much before Redis ends it.
    static let safetyMargin = 0.1

    /// The number of beats per lease: one may be lost without harm.
    static let beatsPerLease = 3

    /// The number of attempts in the time between two beats, after a beat that did not reach Redis.
    static let triesPerBeat = 4

    /// The age of a claim at which the heartbeat confirms it before the next regular beat. The confirmation is sent after twice
    /// that time at the latest. Jobs that end before cost no beat.
    static let confirmAge: Duration = .milliseconds(500)

    /// The time between two warnings of a name that another living worker has.
    static let sharedNameSilence = Duration.seconds(600)

    /// The number of checks of the clock per lease, which bounds how late the end of trust is noticed.
    static let looksPerLease = 50

    /// Creates a heartbeat for jobs of `queue`.
    ///
    /// - Parameters:
    ///   - redis: A client of its own, with its own thread.
    ///   - memory: Returns the current memory figures, which each beat sends. It is called on that thread, so it returns at once.
    ///   - pressure: Returns how short of memory the worker is, likewise.
    ///   - trouble: Returns why the worker's library cannot be used, likewise.
    public init(
        queue: JobQueue, redis: RedisClient, worker: WorkerInfo, logger: Logger,
        memory: @escaping @Sendable () -> WorkerMemory? = { nil },
        pressure: @escaping @Sendable () -> WorkerInfo.Pressure? = { nil },
        trouble: @escaping @Sendable () -> String? = { nil },
        listener: @escaping HeartbeatTurn.Listener = { _ in }
    ) {
        var worker = worker
        worker.leaseMilliseconds = queue.settings.lease.milliseconds
        worker.run = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        self.worker = worker
        self.memory = memory
        self.pressure = pressure
        self.trouble = trouble
        self.queue = JobQueue(name: queue.name, redis: redis, settings: queue.settings)
        self.redis = redis
        self.logger = logger
        self.listener = listener
    }

    /// Starts to renew a lease.
    ///
    /// - Parameters:
    ///   - since: The time at which the claim was sent.
    ///   - stage: Returns the stage of the job, which each beat sends to Redis.
    ///   - progress: Returns the progress of a movie's render, likewise.
    ///   - end: Called when the worker no longer holds the job, or the job was cancelled: its render must be killed.
    public nonisolated func hold(
        _ id: Hold, since: ContinuousClock.Instant,
        stage: @escaping @Sendable () -> String? = { nil },
        progress: @escaping @Sendable () -> JobProgress? = { nil },
        end: @escaping @Sendable (Hold.End) -> Void
    ) {
        let lease = BeatingHolds.Lease(
            logged: LoggedJob.current, began: .now, trustedUntil: since + trust, stage: stage,
            progress: progress, end: end)
        holds.withLock { $0.add(id, lease) }
    }

    /// Stops renewing a lease.
    public nonisolated func letGo(_ id: Hold) { holds.withLock { $0.remove(id) } }

    /// Whether beats have reached Redis for a whole lease, so that every other live worker had the time to renew its leases. Only
    /// then may this worker reap expired leases.
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

    /// Ends holds whose leases are no longer trusted, even while a beat waits for Redis.
    private func watchClock() async {
        let step = max(queue.settings.lease / Self.looksPerLease, .milliseconds(1))
        repeat {
            loseUntrusted()
        } while await hasSlept(
            until: min(holds.withLock(\.nextEnd) ?? .now + step, .now + step))
    }

    /// - Returns: Whether the time was reached; false if the task was cancelled.
    private func hasSlept(until time: ContinuousClock.Instant) async -> Bool {
        do {
            try await Task.sleep(until: time, clock: .continuous)
            return true
        } catch {
            return false  // cancelled
        }
    }

    /// Renews all leases once. Without any lease, the beat only reports that the worker is alive.
    ///
    /// - Returns: Whether the beat reached Redis.
    @discardableResult
    func beat() async -> Bool {
        let beating = Array(holds.withLock(\.all))
        let started = ContinuousClock.now
        var hasReached = false
        do {
            let answer = try await queue.beat(
                beating.map {
                    Beat(
                        hold: $0.key, stage: $0.value.stage(), progress: $0.value.progress())
                },
                by: worker.with(
                    busy: min(beating.count, worker.slots), memory: memory(), pressure: pressure(),
                    trouble: trouble()))
            hasReached = true
            contact.withLock { $0.reach(at: started, lease: queue.settings.lease) }
            listener(.renewed)
            for ((id, lease), reply) in zip(beating, answer.replies) {
                if reply == .fenced {
                    lose(id, "according to Redis, another worker holds it or it has ended")
                } else {
                    holds.withLock { $0.renew(id, until: started + trust) }
                    if reply == .cancelled { lease.end(.cancelled) }
                }
            }
            if answer.isNameShared { warnOfSharedName() }
            try await reportLost()
        } catch {
            listener(.failed("\(error)"))
            logger.warning("heartbeat failed", metadata: ["error": "\(error)"])
        }
        loseUntrusted()
        return hasReached
    }

    private func warnOfSharedName() {
        guard sharedNameTold.map({ .now - $0 >= Self.sharedNameSilence }) ?? true else { return }
        sharedNameTold = .now
        logger.warning(
            """
            another living worker has this one's name, so each overwrites the report of the other, and a crash of one is \
            judged by the other's start: give each worker a name of its own (--worker-name), and start them again
            """,
            metadata: ["worker": "\(worker.name)"])
    }

    private nonisolated var trust: Duration { queue.settings.lease * (1 - Self.safetyMargin) }

    private func loseUntrusted() {
        for id in holds.withLock({ $0.untrusted(at: .now) }) {
            lose(id, "no heartbeat reached Redis for the length of its lease")
        }
    }

    private func lose(_ id: Hold, _ why: String) {
        guard let lost = holds.withLock({ $0.lose(id) }) else { return }  // removed meanwhile
        LoggedJob.$current.withValue(lost.logged) { logger.warning("lease lost: \(why)") }
        lost.end(.lost)
    }

    /// Reports for the lost holds that this worker is alive: their leases expired, but it did not crash.
    private func reportLost() async throws(QueueError) {
        let lost = Array(holds.withLock(\.unreported))
        guard !lost.isEmpty else { return }
        let pardons: JobQueue.Pardons
        do {
            pardons = try await queue.pardon(lost)
        } catch {
            // A repeated call would receive the same reply.
            if error.code == .unexpectedReply { holds.withLock { $0.removeReported(lost) } }
            throw error
        }
        holds.withLock { $0.removeReported(lost) }
        logger.notice(
            "reported to Redis that leases expired while this worker was running",
            metadata: ["released": "\(pardons.released)", "pardoned": "\(pardons.pardoned)"])
    }
}

/// The holds that a heartbeat keeps alive, each with the time until which its lease is trusted.
struct BeatingHolds: Sendable {
    /// The lease of one hold.
    struct Lease: Sendable {
        let logged: LoggedJob?
        /// The time at which the heartbeat began to renew the lease.
        let began: ContinuousClock.Instant
        var trustedUntil: ContinuousClock.Instant
        /// Whether a heartbeat has reached Redis since the claim.
        var isConfirmed = false
        let stage: @Sendable () -> String?
        let progress: @Sendable () -> JobProgress?
        let end: @Sendable (Hold.End) -> Void
    }

    private(set) var all: [Hold: Lease] = [:]
    /// Lost holds for which Redis has not yet received a pardon, the report that their worker is alive.
    private(set) var unreported: Set<Hold> = []

    mutating func add(_ id: Hold, _ lease: Lease) { all[id] = lease }

    /// Removes a hold that its worker has finished.
    mutating func remove(_ id: Hold) { all[id] = nil }

    /// Records that Redis has renewed a lease.
    mutating func renew(_ id: Hold, until end: ContinuousClock.Instant) {
        all[id]?.trustedUntil = end
        all[id]?.isConfirmed = true
    }

    /// Removes a lost hold. Returns nil if the hold was removed meanwhile.
    mutating func lose(_ id: Hold) -> Lease? {
        guard let lost = all.removeValue(forKey: id) else { return nil }
        unreported.insert(id)
        return lost
    }

    /// Records that Redis has received the pardons of these lost holds.
    mutating func removeReported(_ ids: [Hold]) { unreported.subtract(ids) }

    /// Returns the holds whose leases must not be trusted any more.
    func untrusted(at now: ContinuousClock.Instant) -> [Hold] {
        all.filter { $0.value.trustedUntil <= now }.map(\.key)
    }

    /// The time at which the first trusted lease ends if no heartbeat renews it.
    var nextEnd: ContinuousClock.Instant? { all.values.map(\.trustedUntil).min() }

    /// Returns whether an unconfirmed claim has reached this age.
    func hasUnconfirmed(for age: Duration, at now: ContinuousClock.Instant) -> Bool {
        all.values.contains { !$0.isConfirmed && now - $0.began >= age }
    }
}

/// The time since which a worker's heartbeats have reached Redis without a gap in which a worker may have lost a lease.
///
/// A worker reaps lost leases only after a whole lease without such a gap. After an outage of Redis, or after the machine stood
/// still, every other live worker has then had the time to renew its leases.
struct RedisContact: Sendable {
    /// The shortest gap between two beats, as a fraction of a lease, in which a lease can expire: a lease was renewed at most a
    /// third of its length before the last beat.
    static let gapMax = 2.0 / 3

    private var since: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    /// Records a beat that reached Redis; `start` is the time at which it was sent.
    mutating func reach(at start: ContinuousClock.Instant, lease: Duration) {
        let isGap = last.map { start - $0 > lease * Self.gapMax } ?? true
        if isGap { since = start }
        last = start
    }

    /// Returns whether there was no gap for a whole lease.
    func hasLasted(lease: Duration, at now: ContinuousClock.Instant) -> Bool {
        guard let since, let last else { return false }
        return now - since >= lease && now - last <= lease * Self.gapMax
    }
}

public enum HeartbeatTurn: Sendable {
    /// One turn is complete, with or without leases to renew.
    case turned
    /// Redis has renewed the leases.
    case renewed
    /// The renewal failed, with the reason.
    case failed(String)

    /// The callback for these events. It must return at once.
    public typealias Listener = @Sendable (HeartbeatTurn) -> Void
}
