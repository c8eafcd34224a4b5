import Editing
public import JobQueue
public import Logging
public import Redis
public import RenderPool
import RenderProtocol
public import ServiceLifecycle

/// A worker process: claims jobs while it has free slots and passes each to its handler.
///
/// It stops gracefully with its service group (SIGTERM, SIGINT): it claims no more jobs, running jobs get their
/// grace period, and the remaining jobs are returned without counting an attempt.
public struct Worker: Service {
    let queue: JobQueue
    let runner: JobRunner
    private let ingressReads: RedisClient
    private let wakeReads: RedisClient
    private let controlReads: RedisClient
    let heartbeat: Heartbeat
    private let pressure: PressureWatch?
    let settings: WorkerSettings
    let logger: Logger
    private let brake: ClaimBrake
    let outage: StoreOutage
    let carries: Carries
    var pace = FleetPace()
    let metrics: WorkerMetrics

    /// Creates a worker.
    ///
    /// - Parameters:
    ///   - queue: its client sends claims and the ends of jobs.
    ///   - ingressReads: a dedicated client, which blocks until there are jobs to admit.
    ///   - wakeReads: a dedicated client, which blocks until there are jobs to claim.
    ///   - controlReads: a dedicated client, which receives cancellations.
    ///   - heartbeat: has its own client and thread.
    ///   - pressure: the watch over memory; nil: none.
    ///   - brake: while it is pulled, no jobs are claimed.
    public init(
        queue: JobQueue, handler: any JobHandler, ingressReads: RedisClient, wakeReads: RedisClient,
        controlReads: RedisClient, heartbeat: Heartbeat, pressure: PressureWatch? = nil,
        settings: WorkerSettings,
        brake: ClaimBrake = ClaimBrake(), logger: Logger,
        metrics: WorkerMetrics = WorkerMetrics()
    ) {
        self.queue = queue
        self.ingressReads = ingressReads
        self.wakeReads = wakeReads
        self.controlReads = controlReads
        self.heartbeat = heartbeat
        self.pressure = pressure
        self.settings = settings
        self.brake = brake
        self.logger = logger
        self.metrics = metrics
        outage = StoreOutage(handler: handler, brake: brake, logger: logger)
        carries = Carries(atOnce: settings.rendering.slots)
        runner = JobRunner(
            queue: queue, handler: handler, outage: outage, worker: settings.name,
            editors: settings.editing.editorsVariant,
            memoryBytes: settings.rendering.memory.source == .nobody
                ? nil : settings.rendering.memory.bytes, logger: logger, metrics: metrics)
    }

    /// Works until the service stops.
    ///
    /// - Throws: `QueueError.unsafeServer`, `otherLibrary` at the start; `laterFormat` whenever the queue has one. Other failures of
    ///   Redis are retried, and a queue that has another library later stops the claims.
    public func run() async throws {
        let server = ServerWatch(queue, as: .worker, logger)
        try await server.ask()
        if var library = settings.library {
            library.hasResources = runner.handler.noteResources(false)
            let own = try await queue.insist(on: library)
            _ = runner.handler.noteResources(own.hasResources)
        }
        logger.notice(
            "worker starts",
            metadata: [
                "worker": "\(settings.name)", "version": "\(Engine.build)",
                "queue": "\(queue.name)",
                "slots": "\(settings.rendering.slots)", "memory": "\(settings.rendering.memory)",
            ])
        let jobs = RunningJobs(
            slots: settings.rendering.slots, filesTravel: runner.handler.filesTravel, brake: brake)
        let sleep = ClaimSleep(queue: queue, reads: wakeReads)
        let admission = AdmissionLoop(
            queue: queue, worker: settings.name, ingressReads: ingressReads, pace: pace,
            logger: logger, metrics: metrics)
        let asking = Task {
            do {
                try await server.run()
            } catch {
                // Workers of a later release have the queue, and this one's leases have run out.
                await jobs.close()
                await outage.close()
                await sleep.end()
                throw error
            }
        }
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                let beating = Task { await heartbeat.run() }
                let upkeep = Task { await keepUp() }
                let listening = Task { await listenForCancellations(jobs) }
                let watching = Task {
                    await pressure?.run { level in
                        metrics.health.set(.memory, pressure?.shortage?.reason)
                        await jobs.follow(level)
                    }
                }
                let admitting = Task { await admission.run() }
                await claimLoop(jobs, sleep, &group)
                admitting.cancel()
                asking.cancel()
                await admitting.value
                await jobs.drain(grace: settings.shutdownGrace, logger)
                watching.cancel()
                listening.cancel()
                upkeep.cancel()
                await watching.value
                await upkeep.value
                await listening.value
                beating.cancel()
                await beating.value
                await leave()
            }
        } onGracefulShutdown: {
            metrics.drains()
            Task {
                await jobs.close()
                await outage.close()
                await sleep.end()
            }
        }
        try await asking.value
        logger.notice("worker ends", metadata: ["worker": "\(settings.name)"])
    }

    /// Removes the worker's name from the list of living workers.
    private func leave() async {
        do {
            try await queue.leave(settings.name)
        } catch {
            logger.notice(
                "the end of this worker could not be recorded; the worker stays listed for ten more leases",
                metadata: ["error": "\(error)"])
        }
    }

    private func claimLoop(
        _ jobs: RunningJobs, _ sleep: ClaimSleep, _ group: inout DiscardingTaskGroup
    ) async {
        var failures = 0
        var hasReportedLater = false
        while !Task.isCancelled, let free = await jobs.waitForFreeSlots() {
            metrics.health.asksForJobs()
            do throws(QueueError) {
                guard await outage.allowsClaims() else {
                    if !Task.isCancelled { try await queue.wakeAnother() }
                    continue
                }
                let since = ContinuousClock.now
                let claims = try await queue.claim(
                    by: settings.name, count: free, isIdle: await jobs.isIdle)
                failures = 0
                metrics.health.set(.redis, nil)
                if claims.hasLater, !hasReportedLater {
                    hasReportedLater = true
                    logger.error(
                        "jobs are left to newer workers: this worker does not support the format of their records",
                        metadata: ["known": "\(JobRecord.formatKnown)"])
                }
                for claim in claims.jobs {
                    let hold = await jobs.begin(claim.hold, of: claim.batch)
                    metrics.begins(after: claim.queued)
                    group.addTask {
                        await work(
                            LoggedJob(claim), JobTrace(claim, of: queue.name), since, hold
                        ) {
                            await jobs.waitForOlder(than: claim.hold)
                            await runner.run(claim, hold)
                        }
                        await jobs.end(claim.hold)
                        metrics.freesSlot()
                    }
                }
                if claims.requiresIdle || claims.jobs.contains(where: \.isQuarantined) {
                    metrics.health.waitsForIdle()
                    _ = await jobs.waitUntilIdle()
                } else if claims.hasMore {
                    continue
                } else if claims.jobs.count < free {
                    try await sleepUntilClaimable(jobs, sleep, claims)
                }
            } catch {
                metrics.missedRedis(.claim, error)
                logger.error(
                    "jobs cannot be claimed; retrying", metadata: ["error": "\(error)"])
                await backOff(failures)
                failures += 1
            }
        }
    }

    /// Sleeps until Redis wakes the worker, or the worker finds a job to claim by itself.
    private func sleepUntilClaimable(
        _ jobs: RunningJobs, _ sleep: ClaimSleep, _ claims: JobQueue.Claims
    ) async throws(QueueError) {
        while await !jobs.isClosed {
            if try await sleep.sleep(atMost: pace.interval, afterLeaving: claims.leavesJobs) {
                if await !jobs.canBegin { try await queue.wakeAnother() }
                return
            }
            metrics.health.asksForJobs()
            if try await queue.hasClaimable() { return }
        }
    }

    /// Stops jobs as soon as they are cancelled, until the task is cancelled.
    ///
    /// Cancellations that it misses while Redis is away are part of the heartbeat's replies.
    private func listenForCancellations(_ jobs: RunningJobs) async {
        var position: String?
        var failures = 0
        while !Task.isCancelled {
            do throws(QueueError) {
                var from: String
                if let position {
                    from = position
                } else {
                    from = try await queue.controlPosition(in: .jobs)
                }
                let messages = try await queue.listen(
                    to: .jobs, from: &from, atMost: WorkerSettings.listenWait, on: controlReads)
                position = from
                failures = 0
                await jobs.cancel(messages)
            } catch {
                if Task.isCancelled { return }
                // A server that took over may have a stream that ends before the position.
                position = nil
                metrics.missedRedis(.listen, error)
                logger.warning(
                    "cancellations cannot be read; retrying", metadata: ["error": "\(error)"])
                await backOff(failures)
                failures += 1
            }
        }
    }

    func work(
        _ job: LoggedJob, _ trace: JobTrace, _ since: ContinuousClock.Instant, _ hold: HeldJob,
        _ body: () async -> Void
    ) async {
        beat(for: job, since, hold)
        await workHeld(job, trace, since, body)
    }

    /// Has the heartbeat renew the lease of a job from now on.
    func beat(for job: LoggedJob, _ since: ContinuousClock.Instant, _ hold: HeldJob) {
        LoggedJob.$current.withValue(job) {
            heartbeat.hold(
                Hold(job: job.job, fence: job.fence), since: since,
                stage: { hold.stage?.rawValue }, progress: { hold.progress },
                end: { hold.end($0) })
        }
    }

    /// Works on a job whose lease is renewed already, and ends that.
    func workHeld(
        _ job: LoggedJob, _ trace: JobTrace, _ since: ContinuousClock.Instant,
        _ body: () async -> Void
    ) async {
        await LoggedJob.$current.withValue(job) {
            await trace.follow(since: since, body)
            heartbeat.letGo(Hold(job: job.job, fence: job.fence))
        }
    }
}

/// The sleep of a claim loop that has nothing to claim. It ends by a wake-up from Redis, after a time, or
/// permanently.
actor ClaimSleep {
    private let queue: JobQueue
    /// A dedicated client, because the wait blocks its connection.
    private let reads: RedisClient
    private var sleep: Task<Result<Bool, QueueError>, Never>?
    private var isOver = false

    init(queue: JobQueue, reads: RedisClient) {
        self.queue = queue
        self.reads = reads
    }

    /// Sleeps. After ``end()`` it returns immediately.
    ///
    /// - Returns: whether Redis woke the worker.
    func sleep(
        atMost time: Duration, afterLeaving leaving: Bool
    ) async throws(QueueError) -> Bool {
        guard !isOver else { return false }
        let task = Task { () -> Result<Bool, QueueError> in
            do throws(QueueError) {
                return .success(
                    try await queue.sleep(atMost: time, afterLeaving: leaving, on: reads))
            } catch {
                return .failure(error)
            }
        }
        sleep = task
        let result = await task.value
        sleep = nil
        if isOver, case .failure = result { return false }
        return try result.get()
    }

    /// Ends this sleep and all later ones: the worker claims no more jobs.
    func end() {
        isOver = true
        sleep?.cancel()
    }
}

/// The publications that a worker continues for workers that died, beside its upkeep. It holds all that it was given, and
/// as many run at once as it has slots: each may wait for a store, or for a lock that a stopped process has.
actor Carries {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// How many have been given and have not ended.
    private(set) var held = 0

    /// - Parameter count: how many run at once.
    init(atOnce count: Int) { free = max(1, count) }

    /// Records one that was given.
    func add() { held += 1 }

    /// Waits until it may run.
    func begin() async {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    func end() {
        held -= 1
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
