import Adjustments
import JobQueue
import Logging

extension JobRunner {
    /// Writes the end of an attempt to the queue until it is taken or the job is lost, and tells it.
    func finish(
        _ end: WorkerEvent.AttemptEnd, _ job: String, _ hold: JobHold,
        _ write: () async throws(QueueError) -> Standing
    ) async {
        switch await writeUntilTaken(job, hold, logger, telling: listener, write) {
        case .held: tell(end)
        case .cancelled: tell(.cancelled)
        case .fenced, nil: tell(.lost)
        }
    }

    /// Tells the end of an attempt to the listener and the log.
    func tell(_ end: WorkerEvent.AttemptEnd) {
        listener(.ended(end))
        logger.info("attempt ended", metadata: ["outcome": "\(end.outcome)"])
    }

    /// Ends an attempt that failed; the retry policy decides what follows.
    func fail(_ claim: Claim, _ failure: Failure, _ hold: JobHold) async {
        logger.warning(
            "attempt failed",
            metadata: ["code": "\(failure.code.rawValue)", "error": "\(failure.message)"])
        await finish(.failed(failure.code), claim.job, hold) { () async throws(QueueError) in
            try await queue.fail(
                claim, by: worker, failure,
                Attempt.Trace(stage: hold.stage?.rawValue, signal: failure.signal),
                random: .random(in: 0...1))
        }
    }

    /// Hands a job on whose version could not be published: the queue decides when a worker tries again, and when the
    /// job is stuck.
    func handOn(
        _ version: CommittedVersion, _ failure: Failure, carries: Int, _ hold: JobHold
    ) async {
        logger.error(
            "the version could not be published",
            metadata: [
                "version": "\(version.name)", "carries": "\(carries)",
                "code": "\(failure.code.rawValue)", "error": "\(failure.message)",
            ])
        await finish(.failed(failure.code), version.job, hold) { () async throws(QueueError) in
            try await queue.handOn(
                job: version.job, fence: version.fence, by: worker, failure, carries: carries,
                random: .random(in: 0...1))
        }
    }

    /// Ends a hold whose work was stopped: the lease is lost, the job is not wanted any more, or the worker hands it
    /// back, for one of its reasons.
    func giveUp(_ claim: Claim, _ reason: JobQueue.Release, _ hold: JobHold) async {
        if hold.isCancelled { return await dismiss(claim, hold) }
        await finish(reason == .pressure ? .requeued : .handedBack, claim.job, hold) {
            () async throws(QueueError) in
            try await queue.release(job: claim.job, fence: claim.fence, reason)
        }
    }

    /// Ends a job that was cancelled while we held it.
    func dismiss(_ claim: Claim, _ hold: JobHold) async {
        await finish(.cancelled, claim.job, hold) { () async throws(QueueError) in
            try await queue.concludeCancelled(claim)
        }
    }

    /// Tells what the result will look like, roughly. Sent once: it is out of date soon.
    func preview(_ claim: Claim, _ placeholder: String) async {
        do {
            _ = try await queue.preview(
                claim,
                JobEvent.Previewed(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: worker, placeholder: placeholder))
        } catch {
            logger.info("a placeholder was not told", metadata: ["error": "\(error)"])
        }
    }
}
