import Edits
import Editing
import JobQueue
import Logging
import Telemetry
import Tracing

extension JobRunner {
    /// Writes the end of an attempt to the queue until Redis accepts it or the job is lost, and reports it.
    func finish(
        _ end: WorkerEvent.AttemptEnd, _ job: String, _ hold: JobHold,
        _ write: () async throws(QueueError) -> HoldState
    ) async {
        let state = await inSpan("finish", with: ["minilab.outcome": .string(end.outcome)]) {
            _ in
            await writeUntilAccepted(job, hold, logger, to: listener, write)
        }
        report(state, end, hold)
    }

    private func report(_ state: HoldState?, _ end: WorkerEvent.AttemptEnd, _ hold: JobHold) {
        switch state {
        case .held: report(end)
        case .cancelled: report(.cancelled)
        // A part of a cancelled movie has no record any more: its worker lost nothing to another one.
        case .fenced where hold.isCancelled && !hold.isLost: report(.cancelled)
        case .fenced, nil: report(.lost)
        }
    }

    /// Reports the end of an attempt to the listener and the log.
    func report(_ end: WorkerEvent.AttemptEnd) {
        listener(.ended(end))
        end.note()
        logger.info("attempt ended", metadata: ["outcome": "\(end.outcome)"])
    }

    /// Ends a failed attempt. The retry policy decides whether another attempt follows.
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

    /// Hands a job back whose version could not be published. The queue decides when a worker tries again, and when
    /// the job is stuck.
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

    /// Gives a version back that this worker was to publish for another one. No carry is counted.
    func giveBack(_ version: CommittedVersion, _ hold: JobHold) async {
        await finish(.handedBack, version.job, hold) { () async throws(QueueError) in
            try await queue.giveBack(job: version.job, fence: version.fence)
        }
    }

    /// Leaves a job that this worker's machine cannot do to the workers that can. If no living worker is left, the job is
    /// dead.
    func passOn(_ claim: Claim, _ failure: Failure, _ hold: JobHold) async {
        logger.warning(
            "this machine cannot do a job; it is left to others",
            metadata: ["code": "\(failure.code.rawValue)", "error": "\(failure.message)"])
        var end = WorkerEvent.AttemptEnd.handedBack
        let state = await writeUntilAccepted(claim.job, hold, logger, to: listener) {
            () async throws(QueueError) in
            let passed = try await queue.passOn(
                claim, by: worker, failure, Attempt.Trace(stage: hold.stage?.rawValue))
            if passed.isDead { end = .failed(failure.code) }
            return passed.state
        }
        report(state, end, hold)
    }

    /// Ends a hold whose work was stopped: the lease is lost, the job was cancelled, or the worker returns the job
    /// for one of the reasons of a release.
    func giveUp(_ claim: Claim, _ reason: JobQueue.Release, _ hold: JobHold) async {
        if hold.isCancelled { return await dismiss(claim, hold) }
        await finish(reason == .pressure ? .requeued : .handedBack, claim.job, hold) {
            () async throws(QueueError) in
            try await queue.release(job: claim.job, fence: claim.fence, reason)
        }
    }

    /// Ends a job that was cancelled while this worker held it.
    func dismiss(_ claim: Claim, _ hold: JobHold) async {
        await finish(.cancelled, claim.job, hold) { () async throws(QueueError) in
            try await queue.concludeCancelled(claim)
        }
    }

    /// Sends a rough preview of the result to readers of events. It is sent once, without a retry, because it is
    /// soon out of date.
    func preview(_ claim: Claim, _ placeholder: String) async {
        do {
            _ = try await queue.preview(
                claim,
                JobEvent.Previewed(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: worker, placeholder: placeholder))
        } catch {
            logger.info(
                "the event of a placeholder could not be sent", metadata: ["error": "\(error)"])
        }
    }
}
