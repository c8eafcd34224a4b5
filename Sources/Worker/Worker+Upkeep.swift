import JobQueue
import Logging

/// The maintenance of a queue that a worker does beside its jobs.
extension Worker {
    /// Reclaims lost leases and removes leftover files until the task is cancelled.
    func keepUp() async {
        await runner.sweep()
        var nextSweep = ContinuousClock.now + WorkerSettings.sweepInterval
        while !Task.isCancelled {
            await measureFleet()
            let reaps = await has(.reaping), tends = await has(.tending)
            if reaps { await reap() }
            if tends { await tend() }
            if ContinuousClock.now >= nextSweep {
                await runner.sweep()
                nextSweep = .now + WorkerSettings.sweepInterval
            }
            do {
                try await Task.sleep(for: reaps || tends ? FleetPace.shortest : pace.interval)
            } catch {
                break  // cancelled
            }
        }
        await giveUpDuties()
    }

    private func measureFleet() async {
        do {
            pace.note(workers: try await queue.workerCount())
        } catch {
            listener(.missedRedis(.reap, "\(error)"))
            logger.warning("counting the workers failed", metadata: ["error": "\(error)"])
        }
    }

    /// Returns whether this worker holds a duty. If the duty is free, the worker claims it.
    private func has(_ duty: Duty) async -> Bool {
        // After an interruption of its own, a worker cannot know whether an expired lease means a dead worker.
        guard duty != .reaping || heartbeat.mayReap else { return false }
        do {
            return try await queue.claim(duty, by: settings.name)
        } catch {
            listener(.missedRedis(.reap, "\(error)"))
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
    private func reap() async {
        var freed = 0
        for _ in 0..<Self.reapsMax where !Task.isCancelled {
            guard await reapSome(&freed) else { break }
        }
        if freed > 0 { await runner.sweep() }
    }

    /// - Parameter freed: increased by the number of jobs that no worker holds any more.
    /// - Returns: whether there may be more expired leases.
    private func reapSome(_ freed: inout Int) async -> Bool {
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
            for job in reaped.carried {
                let hold = JobHold()
                await work(LoggedJob(job), JobTrace(job, of: queue.name), since, hold) {
                    await runner.carryOn(job, hold)
                }
            }
            freed += reaped.ready + reaped.dead
            return reaped.ready + reaped.dead + reaped.carried.count >= queue.settings.reapMax
        } catch {
            listener(.missedRedis(.reap, "\(error)"))
            logger.warning("looking for lost leases failed", metadata: ["error": "\(error)"])
            return false
        }
    }

    private func tend() async {
        do {
            let tended = try await queue.tend()
            if !tended.isNothing {
                logger.notice(
                    "ended idle batches and removed streams of batches that were never opened",
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
}
