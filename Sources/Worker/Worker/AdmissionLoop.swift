import JobQueue
import Logging
import Redis

/// Admits new jobs on behalf of all workers. It runs beside the claim loop, also while no slot is free, so that an
/// edit which replaces a running one takes effect at once, and an urgent job is first in line when a slot becomes
/// free.
///
/// One worker holds the duty of admission, as a lease. The other workers request it at the interval of
/// ``FleetPace``.
struct AdmissionLoop: Sendable {
    let queue: JobQueue
    /// The worker's name, under which the duty is recorded.
    let worker: String
    /// A dedicated client, which blocks until new entries arrive.
    let ingressReads: RedisClient
    let pace: FleetPace
    let logger: Logger
    let listener: WorkerEvent.Listener

    /// How often the duty is renewed within one lease.
    private static let renewalsPerLease = 3

    /// Admits jobs while this worker holds the duty, until the task is cancelled.
    func run() async {
        var failures = 0
        var lastEntry = "0"
        while !Task.isCancelled {
            do throws(QueueError) {
                if try await queue.claim(.admitting, by: worker) {
                    try await admit(after: &lastEntry)
                } else {
                    await pause(pace.dutyInterval)
                }
                failures = 0
            } catch {
                if Task.isCancelled { break }
                if error.isRedisFull {
                    logger.warning(
                        "Redis is full: no new job is admitted until memory is free; admitted jobs continue",
                        metadata: ["error": "\(error)"])
                    // Redis is full, so the ingress stream stays non-empty and XREAD would return immediately.
                    // Sleep instead.
                    await promote()
                    await pause(FleetPace.shortest)
                } else {
                    listener(.missedRedis(.claim, "\(error)"))
                    logger.error(
                        "jobs cannot be admitted; retrying", metadata: ["error": "\(error)"])
                    await backOff(failures)
                    failures += 1
                }
            }
        }
        await giveUpDuty()
    }

    /// Admits jobs until the duty is due for renewal.
    private func admit(after lastEntry: inout String) async throws(QueueError) {
        let step = Duty.admitting.lease / Self.renewalsPerLease
        let renewal = ContinuousClock.now + step
        while !Task.isCancelled, .now < renewal {
            let admission = try await queue.admit()
            for problem in admission.problems {
                logger.error(
                    "the stream of a batch is blocked; run minilab doctor for details",
                    metadata: ["error": "\(problem)"])
            }
            guard admission.admitted == 0 else { continue }
            try await queue.waitForEntries(
                atMost: min(step, admission.next ?? step), onlyUrgent: admission.isHeld,
                after: &lastEntry, on: ingressReads)
        }
    }

    /// Promotes delayed jobs while no new jobs can be admitted: some of them free memory in Redis when they finish.
    private func promote() async {
        do {
            _ = try await queue.promote()
        } catch {
            listener(.missedRedis(.claim, "\(error)"))
            logger.error("delayed jobs cannot be made ready", metadata: ["error": "\(error)"])
        }
    }

    /// Gives up the duty in a new task, because the present task is cancelled.
    private func giveUpDuty() async {
        let end = Task { try await queue.release(.admitting, by: worker) }
        do {
            try await end.value
        } catch {
            logger.notice(
                "the duty to admit could not be handed over; it expires by itself",
                metadata: ["error": "\(error)"])
        }
    }
}
