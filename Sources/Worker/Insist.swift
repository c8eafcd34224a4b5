package import JobQueue
package import Logging

/// Repeats a write to the queue until Redis answers it or the job is lost.
///
/// All these writes are idempotent, so one whose reply was lost can be sent again. It ends: the
/// heartbeat, which needs the same Redis, loses the job after one lease without an answer.
///
/// - Returns: nil when the job was lost meanwhile.
package func insist(
    on job: String, _ hold: JobHold, _ logger: Logger,
    telling listener: WorkerEvent.Listener = { _ in },
    _ write: () async throws(QueueError) -> Standing
) async -> Standing? {
    var attempt = 0
    while !hold.isLost {
        do throws(QueueError) {
            return try await write()
        } catch {
            listener(.missedRedis(.write, "\(error)"))
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
