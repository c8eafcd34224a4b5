import JobQueue
import Logging
import Redis

/// Takes new jobs in for all workers, beside the claim loop and also while no slot is free: so that an edit which
/// replaces the one that runs is heard at once, and an urgent one is in front when a slot gets free.
///
/// One worker has the duty, as a lease; the others ask for it at the pace of the fleet.
struct AdmissionLoop: Sendable {
    let queue: JobQueue
    /// The name under which it takes the duty.
    let worker: String
    /// A client of its own, for waiting for entries.
    let bell: RedisClient
    let pace: FleetPace
    let logger: Logger
    let listener: WorkerEvent.Listener

    /// Renewals of the duty in the time for which it is given.
    private static let renewalsPerLease = 3

    /// Admits while it has the duty, until it is cancelled.
    func run() async {
        var failures = 0
        var rung = "0"
        while !Task.isCancelled {
            do throws(QueueError) {
                if try await queue.take(.admitting, by: worker) {
                    try await admit(after: &rung)
                } else {
                    await pause(pace.dutyInterval)
                }
                failures = 0
            } catch {
                if Task.isCancelled { break }
                if error.isRedisFull {
                    logger.warning(
                        "Redis is full: no new job is taken in until there is room; those that are in go on",
                        metadata: ["error": "\(error)"])
                    // The bell would ring at once: what rings it cannot be taken in.
                    await promote()
                    await pause(FleetPace.shortest)
                } else {
                    listener(.missedRedis(.claim, "\(error)"))
                    logger.error(
                        "no jobs can be taken in; trying again", metadata: ["error": "\(error)"])
                    await backOff(failures)
                    failures += 1
                }
            }
        }
        await giveUpDuty()
    }

    /// Admits until the duty is to be renewed.
    private func admit(after rung: inout String) async throws(QueueError) {
        let step = Duty.admitting.lease / Self.renewalsPerLease
        let renewal = ContinuousClock.now + step
        while !Task.isCancelled, .now < renewal {
            let admission = try await queue.admit()
            for problem in admission.problems {
                logger.error(
                    "a batch's lane stands still; minilab doctor says more",
                    metadata: ["error": "\(problem)"])
            }
            guard admission.taken == 0 else { continue }
            try await queue.waitForEntries(
                atMost: min(step, admission.next ?? step), onlyUrgent: admission.isHeld,
                after: &rung, bell: bell)
        }
    }

    /// Lets delayed jobs go on while no new ones are taken in: some of them free memory when they end.
    private func promote() async {
        do {
            _ = try await queue.promote()
        } catch {
            listener(.missedRedis(.claim, "\(error)"))
            logger.error("delayed jobs cannot go on", metadata: ["error": "\(error)"])
        }
    }

    /// A task of its own, since this one is cancelled.
    private func giveUpDuty() async {
        let end = Task { try await queue.giveUp(.admitting, by: worker) }
        do {
            try await end.value
        } catch {
            logger.notice(
                "could not hand the duty to admit on; it ends by itself",
                metadata: ["error": "\(error)"])
        }
    }
}
