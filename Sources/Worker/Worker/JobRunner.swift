import Edits
import Editing
import JobQueue
import Logging
import RenderPool
import RenderProtocol
import Telemetry
import Tracing

/// Takes a job that a worker holds from claim to end. The three steps of publishing are only here.
///
/// ```
/// claim → make ─────────→ commit → publish → finalize
///          │ └ nothing, part, superseded: conclude    └ idempotent: repeatable by any worker ┘
///          └ failure: fail    stopped: release    cancelled: conclude
/// ```
struct JobRunner: Sendable {
    let queue: JobQueue
    let handler: any JobHandler
    let outage: StoreOutage
    /// The worker's name in events.
    let worker: String
    let logger: Logger
    let listener: WorkerEvent.Listener

    /// Runs a claimed job until it is done, failed, or returned to the queue.
    func run(_ claim: Claim, _ hold: JobHold) async {
        TestPoint.afterClaim.reach()
        let staged = StagedHold(job: claim.job, fence: claim.fence)
        do {
            switch try await hold.whileHeld({ try await make(claim, hold) }) {
            case .version(let event, let isDraft):
                TestPoint.beforeCommit.reach()
                await commit(event, isDraft, claim, staged, hold)
            case .nothing where await outage.isAbsent(), .superseded where await outage.isAbsent():
                // It was decided from versions that cannot be seen now.
                await giveUp(claim, .outage, hold)
                await discard(staged)
            case .nothing(let event):
                await finish(.unchanged, claim.job, hold) { () async throws(QueueError) in
                    try await queue.conclude(claim, event)
                }
                await discard(staged)
            case .part:
                await finish(.part, claim.job, hold) { () async throws(QueueError) in
                    try await queue.concludePart(claim)
                }
                await discard(staged)
            case .superseded(let event):
                await finish(.superseded, claim.job, hold) { () async throws(QueueError) in
                    try await queue.conclude(claim, event)
                }
                await discard(staged)
            }
        } catch let failure as Failure {
            // A child that cannot be started is this worker's trouble: the pool has stopped claims and tries again.
            if failure.code == .rendererUnavailable {
                await giveUp(claim, .outage, hold)
            } else if await outage.begins(failure) {
                await giveUp(claim, .outage, hold)
            } else if failure.code == .formatUnavailable, claim.parent == nil {
                await passOn(claim, failure, hold)
            } else {
                await fail(claim, failure, hold)
            }
            await discard(staged)
        } catch {
            await giveUp(claim, error is RenderRequeued ? .pressure : .shutdown, hold)
            await discard(staged)
        }
    }

    /// Finishes a job that another worker left between commit and finalize, or whose version it could not publish.
    ///
    /// An outage of the store, and a worker that stops, give it back to any worker, and no carry is counted.
    func carryOn(_ job: CarriedJob, _ hold: JobHold) async {
        let version = CommittedVersion(
            job: job.job, generation: job.generation, fence: job.fence, name: job.version,
            asset: job.asset)
        let isAway = await outage.isOn
        if hold.isStopping || isAway { return await giveBack(version, hold) }
        logger.notice(
            "resuming a job whose version was not published",
            metadata: ["version": "\(job.version)", "carries": "\(job.carries)"])
        do throws(Failure) {
            await finish(try await publishOnce(version), version, hold)
        } catch {
            if await outage.begins(error) { return await giveBack(version, hold) }
            await handOn(version, error, carries: job.carries, hold)
        }
    }

    private func publishOnce(
        _ version: CommittedVersion
    ) async throws(Failure) -> PublishOutcome {
        try await inSpan("publish", with: ["minilab.version": .string(version.name)]) {
            _ throws(Failure) in
            try await handler.publish(version)
        }
    }

    private func make(_ claim: Claim, _ hold: JobHold) async throws -> MadeJob {
        guard claim.rebases <= queue.settings.rebasesMax else {
            throw Failure(
                .revisionConflict,
                "the asset changed during \(claim.rebases) renders of this job; another client "
                    + "writes to it all the time.")
        }
        return try await handler.make(claim, hold, desk(of: claim))
    }

    /// Commits the version: step 1 of publishing.
    private func commit(
        _ event: JobEvent.Completed, _ isDraft: Bool, _ claim: Claim, _ staged: StagedHold,
        _ hold: JobHold
    ) async {
        hold.reach(.publishing)
        let state = await inSpan("commit") { _ in
            await writeUntilAccepted(claim.job, hold, logger, to: listener) {
                () async throws(QueueError) in
                try await queue.commit(claim, event, isDraft: isDraft)
            }
        }
        switch state {
        case .held:
            TestPoint.afterCommit.reach()
            await publish(
                CommittedVersion(
                    job: claim.job, generation: claim.generation, fence: claim.fence,
                    name: event.version.id, asset: claim.asset), hold)
        case .cancelled:
            await dismiss(claim, hold)
            await discard(staged)
        case .fenced, nil:
            report(.lost)
            await discard(staged)
        }
    }

    /// The most outages of the store for which one publication waits.
    private static let outagesMax = 10

    /// Publishes the version: step 2. After an outage it waits until the store answers, and tries again.
    private func publishWhenReachable(
        _ version: CommittedVersion
    ) async throws(Failure) -> PublishOutcome {
        for _ in 0..<Self.outagesMax {
            do throws(Failure) {
                return try await handler.publish(version)
            } catch {
                guard await outage.begins(error) else { throw error }
                await outage.waitForEnd()
            }
        }
        return try await handler.publish(version)
    }

    /// Publishes and finalizes the version: steps 2 and 3. Any worker can repeat each step.
    private func publish(_ version: CommittedVersion, _ hold: JobHold) async {
        let outcome: PublishOutcome
        do throws(Failure) {
            outcome = try await inSpan("publish", with: ["minilab.version": .string(version.name)])
            {
                _ throws(Failure) in
                try await publishWhenReachable(version)
            }
        } catch {
            return await handOn(version, error, carries: 0, hold)
        }
        await finish(outcome, version, hold)
    }

    private func finish(
        _ outcome: PublishOutcome, _ version: CommittedVersion, _ hold: JobHold
    ) async {
        switch outcome {
        case .published, .alreadyPublished:
            TestPoint.afterPointer.reach()
            await finish(.published, version.job, hold) { () async throws(QueueError) in
                try await queue.finalize(job: version.job, fence: version.fence)
            }
        case .outdated(let why):
            logger.notice("making it again: \(why)", metadata: ["version": "\(version.name)"])
            await finish(.rebased, version.job, hold) { () async throws(QueueError) in
                try await queue.release(job: version.job, fence: version.fence, .rebase)
            }
            await discard(version.madeBy)
        }
    }
}
