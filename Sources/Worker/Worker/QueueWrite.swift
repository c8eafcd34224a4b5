import JobQueue
import Logging

/// Repeats a write to the queue until Redis accepts it or the job is lost.
///
/// All these writes are idempotent, so a write whose reply was lost can be sent again. The loop is bounded: the
/// heartbeat, which needs the same Redis, declares the job lost after one lease without an answer.
///
/// - Returns: nil if the job was lost in the meantime, or if this version does not understand the reply of Redis: a
///   repeated write would get the same reply. The lease then expires, and the queue counts a crash or a carry.
func writeUntilAccepted(
    _ job: String, _ hold: JobHold, _ logger: Logger, to listener: WorkerEvent.Listener,
    _ write: () async throws(QueueError) -> HoldState
) async -> HoldState? {
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
    let bound = min(
        WorkerSettings.backoffMax, .milliseconds(100) * Double(1 << min(max(attempt, 0), 10)))
    await pause(bound * Double.random(in: 0...1))
}

/// Waits for a time. Returns early if the task is cancelled.
func pause(_ time: Duration) async {
    do {
        try await Task.sleep(for: time)
    } catch {
        return  // cancelled: the caller checks its own state
    }
}
