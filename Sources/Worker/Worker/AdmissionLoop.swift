import Edits
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
    let metrics: WorkerMetrics

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
                        "Redis is full: only a few jobs are admitted at a time until memory is free; admitted jobs continue",
                        metadata: ["error": "\(error)"])
                    // Redis is full, so the ingress stream stays non-empty and XREAD would return immediately.
                    // Sleep instead.
                    await goOnWhileFull()
                    await pause(FleetPace.shortest)
                } else {
                    metrics.missedRedis(.claim, error)
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
            // A call after each admission that finds nothing would be a fifth of what a job that comes alone costs Redis.
            guard !admission.mayHaveMore else { continue }
            try await queue.waitForEntries(
                atMost: min(step, admission.next ?? step), onlyUrgent: admission.isHeld,
                after: &lastEntry, on: ingressReads)
        }
    }

    /// Promotes delayed jobs, and admits some of the entries that may be what fills Redis: jobs that end free its memory.
    private func goOnWhileFull() async {
        do {
            _ = try await queue.promote()
            _ = try await queue.admitWhileFull()
        } catch {
            metrics.missedRedis(.claim, error)
            logger.error("jobs cannot be made ready", metadata: ["error": "\(error)"])
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

/// Repeats a write to the queue until Redis accepts it or the job is lost.
///
/// All these writes are idempotent, so a write whose reply was lost can be sent again. The loop is bounded: the
/// heartbeat, which needs the same Redis, declares the job lost after one lease without an answer.
///
/// - Returns: nil if the job was lost in the meantime, or if this version does not understand the reply of Redis: a
///   repeated write would get the same reply. The lease then expires, and the queue counts a crash or a carry.
func writeUntilAccepted(
    _ job: String, _ hold: HeldJob, _ logger: Logger, _ metrics: WorkerMetrics,
    _ write: () async throws(QueueError) -> Hold.Reply
) async -> Hold.Reply? {
    var attempt = 0
    while !hold.isLost {
        do throws(QueueError) {
            return try await write()
        } catch {
            metrics.missedRedis(.write, error)
            if error.code == .unexpectedReply {
                logger.error(
                    "Redis gave an unexpected reply to a write; the job is left to its lease",
                    metadata: ["job": "\(job)", "error": "\(error)"])
                return nil
            }
            logger.warning(
                "Redis did not accept a write; retrying",
                metadata: ["job": "\(job)", "error": "\(error)"])
            await backOff(attempt)
            attempt += 1
        }
    }
    return nil
}

/// Waits a random time up to 0.1 s · 2^attempt, at most ``WorkerSettings/backoffMax``.
func backOff(_ attempt: Int) async {
    await pause(
        Backoff(base: .milliseconds(100), max: WorkerSettings.backoffMax).delay(failures: attempt))
}

/// Waits for a time. Returns early if the task is cancelled.
func pause(_ time: Duration) async {
    do {
        try await Task.sleep(for: time)
    } catch {
        return  // cancelled: the caller checks its own state
    }
}
