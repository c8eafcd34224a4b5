import JobQueue
import Logging

extension PhotoJobHandler {
    /// Writes the end of an attempt to the queue until it is taken or the job is lost, and tells it.
    func finish(
        _ end: WorkerEvent.AttemptEnd, _ job: String, _ hold: JobHold,
        _ write: () async throws(QueueError) -> Standing
    ) async {
        switch await insist(on: job, hold, logger, telling: listener, write) {
        case .held: tell(end)
        case .cancelled: tell(.cancelled)
        case .fenced, nil: tell(.lost)
        }
    }

    /// Tells the end of an attempt to who counts and to who reads the log.
    func tell(_ end: WorkerEvent.AttemptEnd) {
        listener(.ended(end))
        logger.info("attempt ended", metadata: ["outcome": "\(end.outcome)"])
    }
}
