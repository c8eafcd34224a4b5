import JobQueue
import Logging
import Redis

/// Takes new jobs in, beside the claim loop and also while no slot is free: so that an edit which replaces the one that
/// runs is heard at once, and an urgent one is in front when a slot gets free.
struct AdmissionLoop: Sendable {
    let queue: JobQueue
    /// A client of its own, for waiting for entries.
    let bell: RedisClient
    /// Wakes the claim loop.
    let signal: WorkSignal
    let logger: Logger
    let listener: WorkerEvent.Listener

    /// Admits until it is cancelled.
    func run() async {
        var failures = 0
        var hasEntries = false
        while !Task.isCancelled {
            do throws(QueueError) {
                let admission = try await queue.admit()
                failures = 0
                await signal.note(hasLanes: admission.hasLanes)
                // Of entries that came and were not left for us another worker has made jobs.
                if admission.taken > 0 || hasEntries { await signal.ring() }
                hasEntries = false
                if admission.taken == 0 {
                    hasEntries = try await queue.waitForEntries(
                        atMost: WorkerSettings.idleWait, onlyUrgent: admission.isHeld, bell: bell)
                }
            } catch {
                if Task.isCancelled { return }
                hasEntries = false
                if error.isRedisFull {
                    logger.warning(
                        "Redis is full: no new job is taken in until there is room; those that are in go on",
                        metadata: ["error": "\(error)"])
                    // The bell would ring at once: what rings it cannot be taken in.
                    await pause(WorkerSettings.idleWait)
                } else {
                    listener(.missedRedis(.claim, "\(error)"))
                    logger.error(
                        "no jobs can be taken in; trying again", metadata: ["error": "\(error)"])
                    await backOff(failures)
                    failures += 1
                }
            }
        }
    }
}
