import JobQueue
import Logging

/// Repeats a write to the queue until Redis takes it or the job is lost.
///
/// All these writes are idempotent, so one whose reply was lost can be sent again. It ends: the
/// heartbeat, which needs the same Redis, loses the job after one lease without an answer.
///
/// - Returns: nil when the job was lost meanwhile, or when Redis answered what this version does not know: sent
///   again it would be answered the same. The lease then runs out, and a crash or a carry is counted.
func writeUntilTaken(
    _ job: String, _ hold: JobHold, _ logger: Logger, telling listener: WorkerEvent.Listener,
    _ write: () async throws(QueueError) -> Standing
) async -> Standing? {
    var attempt = 0
    while !hold.isLost {
        do throws(QueueError) {
            return try await write()
        } catch {
            listener(.missedRedis(.write, "\(error)"))
            if error.code == .unexpectedReply {
                logger.error(
                    "Redis did not understand a write; the job is left to its lease",
                    metadata: ["job": "\(job)", "error": "\(error)"])
                return nil
            }
            logger.warning(
                "Redis did not take a write; trying again",
                metadata: ["job": "\(job)", "error": "\(error)"])
            await backOff(attempt)
            attempt += 1
        }
    }
    return nil
}

/// Waits a random time up to 0.1 s · 2^attempt, at most ``WorkerSettings/backoffMax``.
func backOff(_ attempt: Int) async {
    let bound = min(
        WorkerSettings.backoffMax, .milliseconds(100) * Double(1 << min(max(attempt, 0), 10)))
    await pause(bound * Double.random(in: 0...1))
}

/// Waits; not at all when it is cancelled.
func pause(_ time: Duration) async {
    do {
        try await Task.sleep(for: time)
    } catch {
        return  // cancelled: the caller looks at its own state
    }
}
