public import JobQueue
public import Logging
public import Redis
public import ServiceLifecycle

/// One worker process: claims jobs while it has free slots and hands each to its handler.
///
/// It stops gracefully when its service group does (SIGTERM, SIGINT): no more claims, running jobs get
/// their grace, what is left is handed back without an attempt burnt.
public struct Worker: Service {
    private let queue: JobQueue
    private let runner: JobRunner
    private let bell: RedisClient
    private let ear: RedisClient
    private let heartbeat: Heartbeat
    private let pressure: PressureWatch?
    private let settings: WorkerSettings
    private let logger: Logger
    private let brake: ClaimBrake
    private let listener: WorkerEvent.Listener

    /// A worker.
    ///
    /// - Parameters:
    ///   - queue: its client carries claims and ends of jobs.
    ///   - bell: a client of its own, for waiting for new jobs.
    ///   - ear: a client of its own, for hearing what was cancelled.
    ///   - heartbeat: on a client and thread of its own.
    ///   - pressure: what watches memory; nil: nobody does.
    ///   - brake: while it is pulled no jobs are claimed.
    public init(
        queue: JobQueue, handler: any JobHandler, bell: RedisClient, ear: RedisClient,
        heartbeat: Heartbeat, pressure: PressureWatch? = nil, settings: WorkerSettings,
        brake: ClaimBrake = ClaimBrake(), logger: Logger,
        listener: @escaping WorkerEvent.Listener = { _ in }
    ) {
        self.queue = queue
        self.bell = bell
        self.ear = ear
        self.heartbeat = heartbeat
        self.pressure = pressure
        self.settings = settings
        self.brake = brake
        self.logger = logger
        self.listener = listener
        runner = JobRunner(
            queue: queue, handler: handler, worker: settings.name, logger: logger,
            listener: listener)
    }

    /// Works until it is told to stop.
    ///
    /// - Throws: `QueueError.unsafeServer` at the start; later trouble with Redis is waited out.
    public func run() async throws {
        for warning in try await queue.checkServer() { logger.warning("\(warning)") }
        logger.notice(
            "worker starts",
            metadata: [
                "worker": "\(settings.name)", "queue": "\(queue.name)",
                "slots": "\(settings.slots)", "memory": "\(settings.memory)",
            ])
        let jobs = RunningJobs(slots: settings.slots, brake: brake)
        let signal = WorkSignal()
        let admission = AdmissionLoop(
            queue: queue, bell: bell, signal: signal, logger: logger, listener: listener)
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                let beating = Task { await heartbeat.run() }
                let upkeep = Task { await keepUp(jobs) }
                let hearing = Task { await hear(jobs) }
                let watching = Task { await pressure?.run { await jobs.follow($0) } }
                let admitting = Task { await admission.run() }
                await claimLoop(jobs, signal, &group)
                admitting.cancel()
                await admitting.value
                await jobs.drain(grace: settings.shutdownGrace, logger)
                watching.cancel()
                hearing.cancel()
                upkeep.cancel()
                await watching.value
                await upkeep.value
                await hearing.value
                beating.cancel()
            }
        } onGracefulShutdown: {
            listener(.drains)
            Task {
                await jobs.close()
                await signal.ring()
            }
        }
        logger.notice("worker ends", metadata: ["worker": "\(settings.name)"])
    }

    private func claimLoop(
        _ jobs: RunningJobs, _ signal: WorkSignal, _ group: inout DiscardingTaskGroup
    ) async {
        var failures = 0
        var hasToldOfLater = false
        while !Task.isCancelled, let free = await jobs.waitForFreeSlots() {
            listener(.asksForJobs)
            do throws(QueueError) {
                let fed = await signal.hasLanes ? try await feed() : 0
                let since = ContinuousClock.now
                let claims = try await queue.claim(
                    by: settings.name, count: free, isIdle: await jobs.isIdle)
                failures = 0
                listener(.reachedRedis)
                if claims.hasLater, !hasToldOfLater {
                    hasToldOfLater = true
                    logger.error(
                        "jobs are left to newer workers: their records are of a format that this one does not know",
                        metadata: ["known": "\(JobRecord.formatKnown)"])
                }
                for claim in claims.jobs {
                    let hold = await jobs.begin(claim.hold, of: claim.batch)
                    listener(.began(waited: claim.queued))
                    group.addTask {
                        await work(LoggedJob(claim), since, hold) {
                            await jobs.waitForOlder(than: claim.hold)
                            await runner.run(claim, hold)
                        }
                        await jobs.end(claim.hold)
                        listener(.freedSlot)
                    }
                }
                if claims.wantsIdle || claims.jobs.contains(where: \.isAlone) {
                    listener(.waitsForIdle)
                    _ = await jobs.waitUntilIdle()
                } else if claims.hasMore {
                    continue
                } else if fed == 0, claims.jobs.isEmpty {
                    await signal.wait(
                        atMost: min(
                            claims.nextDue ?? WorkerSettings.idleWait,
                            free == settings.slots
                                ? WorkerSettings.idleWait : WorkerSettings.busyWait))
                }
            } catch {
                listener(.missedRedis(.claim, "\(error)"))
                logger.error(
                    "no jobs can be claimed; trying again", metadata: ["error": "\(error)"])
                await backOff(failures)
                failures += 1
            }
        }
    }

    /// Feeds batches' lanes, whose windows have room when jobs have ended.
    ///
    /// - Returns: how many jobs were made; 0 when Redis is full, which the admission loop tells: the jobs that are in go
    ///   on all the same, which makes room.
    private func feed() async throws(QueueError) -> Int {
        do {
            return try await queue.feed()
        } catch {
            guard error.isRedisFull else { throw error }
            return 0
        }
    }

    /// Stops jobs that are cancelled, as soon as they are, until it is cancelled itself.
    ///
    /// What it misses while Redis is away, the heartbeat's answers tell.
    private func hear(_ jobs: RunningJobs) async {
        var position: String?
        var failures = 0
        while !Task.isCancelled {
            do throws(QueueError) {
                var from: String
                if let position {
                    from = position
                } else {
                    from = try await queue.controlPosition()
                }
                let messages = try await queue.listen(
                    from: &from, atMost: WorkerSettings.listenWait, ear: ear)
                position = from
                failures = 0
                await jobs.hear(messages)
            } catch {
                if Task.isCancelled { return }
                listener(.missedRedis(.listen, "\(error)"))
                logger.warning(
                    "cannot hear what is cancelled; trying again", metadata: ["error": "\(error)"])
                await backOff(failures)
                failures += 1
            }
        }
    }

    /// Looks for lost leases and leftovers until it is cancelled.
    private func keepUp(_ jobs: RunningJobs) async {
        await runner.sweep()
        let interval = WorkerSettings.reapInterval
        var nextSweep = ContinuousClock.now + WorkerSettings.sweepInterval
        while !Task.isCancelled {
            await reap()
            await tend()
            if ContinuousClock.now >= nextSweep {
                await runner.sweep()
                nextSweep = .now + WorkerSettings.sweepInterval
            }
            do {
                try await Task.sleep(for: interval * Double.random(in: 1...1.5))
            } catch {
                return  // cancelled: that is the end
            }
        }
    }

    private func reap() async {
        guard heartbeat.mayReap else { return }
        do {
            let since = ContinuousClock.now
            let reaped = try await queue.reap(by: settings.name)
            if reaped.ready + reaped.dead > 0 {
                logger.notice(
                    "took back jobs of workers that died",
                    metadata: ["ready": "\(reaped.ready)", "dead": "\(reaped.dead)"])
            }
            for problem in reaped.problems {
                logger.error(
                    "a job whose lease ran out cannot be taken back; minilab doctor says more",
                    metadata: ["error": "\(problem)"])
            }
            for job in reaped.carried {
                let hold = JobHold()
                await work(LoggedJob(job), since, hold) { await runner.carryOn(job, hold) }
            }
            if reaped.ready + reaped.dead > 0 { await runner.sweep() }
        } catch {
            listener(.missedRedis(.reap, "\(error)"))
            logger.warning("looking for lost leases failed", metadata: ["error": "\(error)"])
        }
    }

    private func tend() async {
        do {
            let tended = try await queue.tend()
            if !tended.isNothing {
                logger.notice(
                    "ended what nobody else did: idle batches, and lanes that nobody opened",
                    metadata: ["sealed": "\(tended.sealed)", "removed": "\(tended.removed)"])
            }
            guard tended.isTurn, let folder = settings.spillFolder else { return }
            let spill = DeadSpill(folder: folder, queue: queue.name.string)
            let (moved, file) = try await spill.move(from: queue)
            if let file {
                logger.notice(
                    "moved dead jobs to a file; minilab replay --file puts them back",
                    metadata: ["jobs": "\(moved)", "file": "\(file)"])
            }
        } catch {
            listener(.missedRedis(.reap, "\(error)"))
            logger.warning(
                "looking after idle batches and dead jobs failed", metadata: ["error": "\(error)"])
        }
    }

    private func work(
        _ job: LoggedJob, _ since: ContinuousClock.Instant, _ hold: JobHold,
        _ body: () async -> Void
    ) async {
        await LoggedJob.$current.withValue(job) {
            let id = HoldID(job: job.job, fence: job.fence)
            heartbeat.hold(
                id, since: since, stage: { hold.stage?.rawValue }, end: { hold.end($0) })
            await body()
            heartbeat.letGo(id)
        }
    }
}
