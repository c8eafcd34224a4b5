import Edits
import Files
import JobQueue
import Logging
import Synchronization

/// The maintenance of a queue that a worker does beside its jobs.
extension Worker {
    /// Reclaims lost leases and removes leftover files until the task is cancelled.
    ///
    /// It waits for no file: what it finds to do in the library is done in tasks beside it. Other workers rely on its
    /// turns.
    func keepUp() async {
        await withDiscardingTaskGroup { beside in
            let sweeps = OneAtATime(), spills = OneAtATime(), comparisons = OneAtATime()
            let generations = GenerationWatch(queue, isRaised: true, logger)
            var nextSweep = ContinuousClock.now, nextComparison = ContinuousClock.now
            var outages = 0
            while !Task.isCancelled {
                await measureFleet()
                await compareLibraries()
                let reaps = await has(.reaping), tends = await has(.tending)
                var freed = 0
                if reaps { freed = await reap(&beside) }
                if tends, await tend() {
                    _ = spills.begins(in: &beside) { await spill() }
                }
                // The first turn is that of a start: Redis may have come back before this worker.
                if ContinuousClock.now >= nextComparison,
                    comparisons.begins(in: &beside, { await lookAround(generations) })
                {
                    nextComparison = .now + GenerationWatch.compareEvery
                }
                // A sweep now removes what could not be removed during the outage.
                let ended = await outage.endedCount
                if freed > 0 || ended > outages { nextSweep = .now }
                outages = ended
                if ContinuousClock.now >= nextSweep,
                    sweeps.begins(in: &beside, { await runner.sweep() })
                {
                    nextSweep = .now + WorkerSettings.sweepInterval
                }
                do {
                    try await Task.sleep(for: reaps || tends ? FleetPace.shortest : pace.interval)
                } catch {
                    break  // cancelled
                }
            }
        }
        await giveUpDuties()
    }

    /// Compares the library with the queue's: another worker may have stated its own while Redis was empty.
    private func compareLibraries() async {
        guard var library = settings.library else { return }
        do {
            library.hasResources = runner.handler.noteResources(false)
            let own = try await queue.join(library)
            _ = runner.handler.noteResources(own.hasResources)
            await outage.refuse(library.refusal(byQueueOf: own, queue.name))
        } catch {
            metrics.missedRedis(.reap, error)
            logger.warning(
                "the queue's library could not be asked for", metadata: ["error": "\(error)"])
        }
    }

    /// Looks at what changes seldom and hurts then: the disk, and whether Redis still has what it had.
    private func lookAround(_ generations: GenerationWatch) async {
        await measureDisk()
        guard settings.keepsOfQueue, await !outage.isAbsent() else { return }
        await generations.compare(
            note: { try await runner.handler.noteOfQueue() },
            keep: { try await runner.handler.keepNoteOfQueue($0) })
    }

    private func measureDisk() async {
        guard let folder = settings.disk else { return }
        do {
            metrics.finds(
                try await offPool { () throws(Failure) in try DiskSpace(at: folder) })
        } catch {
            logger.warning(
                "the space of the library's disk is not known", metadata: ["error": "\(error)"])
        }
    }

    private func measureFleet() async {
        do {
            pace.note(workers: try await queue.workerCount())
        } catch {
            metrics.missedRedis(.reap, error)
            logger.warning("counting the workers failed", metadata: ["error": "\(error)"])
        }
    }

    /// Returns whether this worker holds a duty. If the duty is free, the worker claims it.
    private func has(_ duty: Duty) async -> Bool {
        // After an interruption of its own, a worker cannot know whether an expired lease means a dead worker.
        guard duty != .reaping || heartbeat.mayReap else { return false }
        // A worker without its library publishes for nobody and writes no file: another one may have the duty.
        guard await !outage.isOn else { return false }
        do {
            return try await queue.claim(duty, by: settings.name)
        } catch {
            metrics.missedRedis(.reap, error)
            logger.warning(
                "asking for a duty failed", metadata: ["duty": "\(duty)", "error": "\(error)"])
            return false
        }
    }

    /// Gives up the duties in a new task, because the present task is cancelled.
    private func giveUpDuties() async {
        let end = Task {
            for duty in [Duty.reaping, .tending] {
                try await queue.release(duty, by: settings.name)
            }
        }
        do {
            try await end.value
        } catch {
            logger.notice(
                "duties could not be handed over; they expire by themselves",
                metadata: ["error": "\(error)"])
        }
    }

    /// The most calls in one turn. Each call reclaims up to ``QueueSettings/reapMax`` jobs.
    private static let reapsMax = 100

    /// Reclaims all expired leases. One worker does this for a fleet, and half of the fleet may have died.
    ///
    /// - Returns: the number of jobs that no worker holds any more.
    private func reap(_ beside: inout DiscardingTaskGroup) async -> Int {
        var freed = 0
        for _ in 0..<Self.reapsMax where !Task.isCancelled {
            // The rest waits until some of these are published. Other workers may take it.
            guard await carries.held < queue.settings.reapMax, await !outage.isOn,
                await reapSome(&freed, &beside)
            else { break }
        }
        return freed
    }

    /// - Parameter freed: increased by the number of jobs that no worker holds any more.
    /// - Returns: whether there may be more expired leases.
    private func reapSome(
        _ freed: inout Int, _ beside: inout DiscardingTaskGroup
    ) async -> Bool {
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
                    "a job with an expired lease cannot be taken back; run minilab doctor for details",
                    metadata: ["error": "\(problem)"])
            }
            // All are held before the first is published, which may take longer than a lease.
            let holds = reaped.carried.map { job in
                let hold = HeldJob()
                beat(for: LoggedJob(job), since, hold)
                return (job: job, hold: hold)
            }
            for (job, hold) in holds {
                await carries.add()
                beside.addTask {
                    await carries.begin()
                    if Task.isCancelled { hold.stop() }
                    // In a task of its own, because a cancelled one writes nothing to Redis.
                    await Task {
                        await workHeld(LoggedJob(job), JobTrace(job, of: queue.name), since) {
                            await runner.carryOn(job, hold)
                        }
                    }.value
                    await carries.end()
                }
            }
            freed += reaped.ready + reaped.dead
            return reaped.ready + reaped.dead + reaped.carried.count >= queue.settings.reapMax
        } catch {
            metrics.missedRedis(.reap, error)
            logger.warning("looking for lost leases failed", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// - Returns: whether it is this worker's turn to move dead jobs to the library.
    private func tend() async -> Bool {
        do {
            let tended = try await queue.tend()
            if !tended.isNothing {
                logger.notice(
                    "ended idle batches and removed streams of batches that were never opened",
                    metadata: ["sealed": "\(tended.sealed)", "removed": "\(tended.removed)"])
            }
            return tended.isTurn
        } catch {
            metrics.missedRedis(.reap, error)
            logger.warning("looking after idle batches failed", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Moves dead jobs beyond the limit of Redis to the library, if that is at its place.
    private func spill() async {
        guard settings.keepsOfQueue, await !outage.isAbsent() else { return }
        do {
            let (moved, place) = try await DeadSpill.move(from: queue) { lines, time in
                try await runner.handler.checkPresence()
                return try await runner.handler.keepDead(lines, at: time)
            }
            if let place {
                logger.notice(
                    "moved dead jobs to the library; minilab replay --file puts them back",
                    metadata: ["jobs": "\(moved)", "place": "\(place)"])
            }
        } catch {
            metrics.missedRedis(.reap, error)
            logger.warning(
                "moving dead jobs to the library failed; they stay in Redis",
                metadata: ["error": "\(error)"])
        }
    }
}

/// Work beside the upkeep that is not begun again while it runs: a server of files may hang.
private final class OneAtATime: Sendable {
    private let isRunning = Mutex(false)

    /// - Returns: false if it runs still.
    func begins(
        in group: inout DiscardingTaskGroup, _ body: @escaping @Sendable () async -> Void
    ) -> Bool {
        let begins = isRunning.withLock { running in
            defer { running = true }
            return !running
        }
        guard begins else { return false }
        group.addTask {
            await body()
            self.isRunning.withLock { $0 = false }
        }
        return true
    }
}
