import Editing
import Edits
import JobQueue
import Library
import Logging
import RenderPool
import RenderProtocol
import Telemetry
import Tracing

/// Takes a job that a worker holds from claim to end. The three steps of publishing are only here.
///
/// ```
/// claim → make ─────────→ commit → publish → finalize
///          │ └ nothing, rendered, part, superseded: conclude    └ idempotent: repeatable by any worker ┘
///          └ failure: fail    stopped: release    cancelled: conclude
/// ```
struct JobRunner: Sendable {
    let queue: JobQueue
    let handler: any JobHandler
    let outage: StoreOutage
    /// The worker's name in events.
    let worker: String
    /// The formats of edits that its settings add to those that it reads.
    var editors = ""
    /// The memory that its renders may use together, in bytes; nil if it is unbounded.
    var memoryBytes: Int?
    let logger: Logger
    let metrics: WorkerMetrics

    /// Runs a claimed job until it is done, failed, or returned to the queue.
    func run(_ claim: Claim, _ hold: HeldJob) async {
        TestPoint.afterClaim.reach()
        let staged = claim.hold
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
            case .rendered(let event):
                await finish(.rendered, claim.job, hold) { () async throws(QueueError) in
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
            } else if claim.parent == nil,
                let need = failure.need(
                    at: Engine.name, editors: editors,
                    ofAll: claim.isQuarantined ? memoryBytes : nil)
            {
                await passOn(claim, failure, needing: need, hold)
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
    func carryOn(_ job: CarriedJob, _ hold: HeldJob) async {
        let version = job.version
        let isAway = await outage.isOn
        if hold.isStopping || isAway { return await giveBack(version, hold) }
        logger.notice(
            "resuming a job whose version was not published",
            metadata: ["version": "\(version.name)", "carries": "\(job.carries)"])
        do throws(Failure) {
            await finish(try await publishOnce(version), version, hold)
        } catch {
            if await outage.begins(error) { return await giveBack(version, hold) }
            await handOn(version, error, carries: job.carries, hold)
        }
    }

    private func publishOnce(
        _ version: CommittedVersion
    ) async throws(Failure) -> Publication {
        try await inSpan("publish", with: ["minilab.version": .string(version.name)]) {
            _ throws(Failure) in
            try await handler.publish(version)
        }
    }

    private func make(_ claim: Claim, _ hold: HeldJob) async throws -> MadeJob {
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
        _ made: JobEvent.Completion, _ isDraft: Bool, _ claim: Claim, _ staged: Hold,
        _ hold: HeldJob
    ) async {
        hold.reach(.publishing)
        let state = await inSpan("commit") { _ in
            await writeUntilAccepted(claim.job, hold, logger, metrics) {
                () async throws(QueueError) in
                try await queue.commit(claim, made, isDraft: isDraft)
            }
        }
        switch state {
        case .held:
            TestPoint.afterCommit.reach()
            await publish(CommittedVersion(made.version.id, of: claim), hold)
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
    ) async throws(Failure) -> Publication {
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
    private func publish(_ version: CommittedVersion, _ hold: HeldJob) async {
        let outcome: Publication
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
        _ outcome: Publication, _ version: CommittedVersion, _ hold: HeldJob
    ) async {
        if let why = outcome.reasonToMakeItAgain {
            logger.notice("making it again: \(why)", metadata: ["version": "\(version.name)"])
            await finish(.rebased, version.job, hold) { () async throws(QueueError) in
                try await queue.release(job: version.job, fence: version.fence, .rebase)
            }
            return await discard(version.madeBy)
        }
        TestPoint.afterPointer.reach()
        await finish(.published, version.job, hold) { () async throws(QueueError) in
            try await queue.finalize(job: version.job, fence: version.fence)
        }
    }
}

extension JobRunner {
    /// Removes the staged files of a hold that will not be published.
    func discard(_ staged: Hold) async {
        do {
            try await handler.discard(staged)
        } catch {
            logger.warning(
                "a staged version stays behind until the next sweep",
                metadata: ["error": "\(error)"])
        }
    }

    /// Removes the staged files of dead workers.
    func sweep() async {
        do {
            for staged in try await handler.staged() where try await !isWanted(staged) {
                guard try await handler.sweep(staged) else { continue }
                logger.info(
                    "swept", metadata: ["job": "\(staged.job)", "fence": "\(staged.fence)"])
            }
        } catch {
            logger.warning("sweeping staging failed", metadata: ["error": "\(error)"])
        }
    }

    /// Returns whether staged files belong to the job's present hold, or wait to be published.
    ///
    /// Fences are never reused, so files that are unwanted once stay unwanted.
    private func isWanted(_ staged: Hold) async throws(QueueError) -> Bool {
        guard let record = try await queue.record(of: staged.job) else { return false }
        switch record.state {
        case .active: return record.fence == staged.fence
        case .committing, .stuck:
            return record.version.map(CommittedVersion.fence(inName:)) == staged.fence
        default: return false
        }
    }

    /// Returns the desk of a job that its worker holds. A job that is itself a part cannot be split.
    func desk(of claim: Claim) -> JobDesk {
        var desk = JobDesk()
        guard claim.parent == nil else { return desk }
        desk.placeholder = { await preview(claim, $0) }
        desk.split = { task, numbers in
            do throws(QueueError) {
                return try await queue.split(claim, task: task, into: numbers) == .held
            } catch {
                // The worker can render all parts without help.
                logger.notice(
                    "the parts of a movie are rendered here alone", metadata: ["error": "\(error)"])
                return false
            }
        }
        desk.claimPart = { number in
            do throws(QueueError) {
                let part = try await queue.claimPart(claim, number)
                return JobDesk.Part(isOurs: part.state == .ours, ended: part.ended)
            } catch {
                // The caller tries again. If the lease ends first, the hold cancels the job here.
                logger.notice("a part cannot be taken back yet", metadata: ["error": "\(error)"])
                return JobDesk.Part(isOurs: false, ended: [])
            }
        }
        return desk
    }

    /// Writes the end of an attempt to the queue until Redis accepts it or the job is lost, and reports it.
    func finish(
        _ end: AttemptEnd, _ job: String, _ hold: HeldJob,
        _ write: () async throws(QueueError) -> Hold.Reply
    ) async {
        let state = await inSpan("finish", with: ["minilab.outcome": .string(end.outcome)]) {
            _ in
            await writeUntilAccepted(job, hold, logger, metrics, write)
        }
        report(state, end, hold)
    }

    private func report(_ state: Hold.Reply?, _ end: AttemptEnd, _ hold: HeldJob) {
        switch state {
        case .held: report(end)
        case .cancelled: report(.cancelled)
        // A part of a cancelled movie has no record any more: its worker lost nothing to another one.
        case .fenced where hold.isCancelled && !hold.isLost: report(.cancelled)
        case .fenced, nil: report(.lost)
        }
    }

    /// Reports the end of an attempt to metrics and log.
    func report(_ end: AttemptEnd) {
        metrics.count(end)
        end.note()
        logger.info("attempt ended", metadata: ["outcome": "\(end.outcome)"])
    }

    /// Ends a failed attempt. The retry policy decides whether another attempt follows.
    func fail(_ claim: Claim, _ failure: Failure, _ hold: HeldJob) async {
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
        _ version: CommittedVersion, _ failure: Failure, carries: Int, _ hold: HeldJob
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
    func giveBack(_ version: CommittedVersion, _ hold: HeldJob) async {
        await finish(.handedBack, version.job, hold) { () async throws(QueueError) in
            try await queue.giveBack(job: version.job, fence: version.fence)
        }
    }

    /// Leaves a job that this worker's machine cannot do to the workers that can. If no able one lives, the job ends as after any
    /// other failure.
    func passOn(
        _ claim: Claim, _ failure: Failure, needing need: MachineNeed, _ hold: HeldJob
    ) async {
        var passed = JobQueue.PassedOn.nobody
        let state = await writeUntilAccepted(claim.job, hold, logger, metrics) {
            () async throws(QueueError) in
            passed = try await queue.passOn(
                claim, by: worker, failure, needing: need,
                Attempt.Trace(stage: hold.stage?.rawValue))
            if case .left(let state) = passed { return state }
            return .held
        }
        switch passed {
        case .nobody where state == .held: await fail(claim, failure, hold)
        case .dead:
            logger.warning(
                "attempt failed, and no other worker can do the job",
                metadata: ["code": "\(failure.code.rawValue)", "error": "\(failure.message)"])
            report(state, .failed(failure.code), hold)
        case .left, .nobody:
            logger.warning(
                "this machine cannot do a job; it is left to others",
                metadata: ["code": "\(failure.code.rawValue)", "error": "\(failure.message)"])
            report(state, .handedBack, hold)
        }
    }

    /// Ends a hold whose work was stopped: the lease is lost, the job was cancelled, or the worker returns the job
    /// for one of the reasons of a release.
    func giveUp(_ claim: Claim, _ reason: JobQueue.Release, _ hold: HeldJob) async {
        if hold.isCancelled { return await dismiss(claim, hold) }
        await finish(reason == .pressure ? .requeued : .handedBack, claim.job, hold) {
            () async throws(QueueError) in
            try await queue.release(job: claim.job, fence: claim.fence, reason)
        }
    }

    /// Ends a job that was cancelled while this worker held it.
    func dismiss(_ claim: Claim, _ hold: HeldJob) async {
        await finish(.cancelled, claim.job, hold) { () async throws(QueueError) in
            try await queue.concludeCancelled(claim)
        }
    }

    /// Sends a rough preview of the result to readers of events. It is sent once, without a retry, because it is
    /// soon out of date.
    func preview(_ claim: Claim, _ placeholder: String) async {
        do {
            _ = try await queue.preview(claim, placeholder: placeholder)
        } catch {
            logger.info(
                "the event of a placeholder could not be sent", metadata: ["error": "\(error)"])
        }
    }
}

extension Publication {
    /// Why the version can no longer be published, so that its job is made again; nil if it is published.
    var reasonToMakeItAgain: String? {
        switch self {
        case .published, .alreadyPublished: nil
        case .conflict(let current):
            "version \(current?.description ?? "0, the original,") is current now"
        case .publishedBefore(let before): "the job was published before, as version \(before)"
        case .lost: "its staged version no longer exists"
        }
    }
}
