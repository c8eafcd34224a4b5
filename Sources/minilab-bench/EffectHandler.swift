import Adjustments
import JobQueue
import Logging
import RenderProtocol
import Worker

/// Carries a job from claim to end as ``PhotoJobHandler`` does, with a wait for a render and an entry in
/// a ledger for the pointer of a library.
///
/// ```
/// claim → published already? → work → commit → effect → finalize
///                └ conclude              └ idempotent: carried on by anybody ┘
/// ```
struct EffectHandler: JobHandler {
    let queue: JobQueue
    let effects: EffectLedger?
    let work: Duration
    let worker: String
    let logger: Logger

    /// Assets of this folder fail for good in their first generation, so that there is something to replay.
    static let missing = "missing/"

    func handle(_ claim: Claim, _ hold: JobHold) async {
        TestPoint.afterClaim.reach()
        do {
            if let version = try effects?.version(of: claim.job, claim.generation) {
                return await conclude(claim, hold, version)
            }
            if claim.generation == 1, claim.asset.hasPrefix(Self.missing) {
                throw Failure(.missingAsset, "\(claim.asset) is there from generation 2 on.")
            }
            try await hold.whileHeld { try await doWork() }
        } catch is CancellationError {
            return await handBack(claim, hold)
        } catch let failure as Failure {
            return await end(claim, hold, failure)
        } catch {
            return await end(claim, hold, Failure(.ioFailure, "\(error)"))
        }
        let event = JobEvent.Completed(ofNothing: claim, by: worker)
        TestPoint.beforeCommit.reach()
        let standing = await insist(on: claim.job, hold, logger) { () async throws(QueueError) in
            try await queue.commit(claim, event, isDraft: false)
        }
        switch standing {
        case .held: break
        case .cancelled: return await dismiss(claim, hold)
        case .fenced, nil: return refused(claim)
        }
        TestPoint.afterCommit.reach()
        await publish(
            claim.job, claim.generation, event.version.id, fence: claim.fence, hold)
    }

    func carryOn(_ job: CarriedJob, _ hold: JobHold) async {
        logger.notice("carrying on", metadata: ["job": "\(job.job)"])
        await publish(job.job, job.generation, job.version, fence: job.fence, hold)
    }

    func sweep() async {}

    private func doWork() async throws {
        if work > .zero { try await Task.sleep(for: work / 2) }
        TestPoint.midRender.reach()
        if work > .zero { try await Task.sleep(for: work / 2) }
        TestPoint.afterRender.reach()
    }

    /// Steps 2 and 3 of publishing; every step can be repeated, by us or by anybody.
    private func publish(
        _ job: String, _ generation: Int, _ version: String, fence: String, _ hold: JobHold
    ) async {
        do {
            let outcome = try effects?.publish(job: job, generation: generation, version: version)
            if outcome == .conflict {
                // As with a library whose pointer has moved on: begun again, it finds what is there.
                _ = await insist(on: job, hold, logger) { () async throws(QueueError) in
                    try await queue.release(job: job, fence: fence, .rebase)
                }
                return
            }
            TestPoint.afterPointer.reach()
            _ = await insist(on: job, hold, logger) { () async throws(QueueError) in
                try await queue.finalize(job: job, fence: fence)
            }
        } catch {
            // The job stays `committing`; when its lease runs out somebody tries again.
            logger.error("no effect", metadata: ["job": "\(job)", "error": "\(error)"])
        }
    }

    /// An earlier hold has published, and a server that lost its last writes does not know.
    private func conclude(_ claim: Claim, _ hold: JobHold, _ version: String) async {
        let event = JobEvent.Unchanged(
            job: claim.job, asset: claim.asset, generation: claim.generation,
            attempt: claim.attempt, worker: worker, mode: .replace, version: nil,
            reason: "version \(version) is published already.")
        _ = await insist(on: claim.job, hold, logger) { () async throws(QueueError) in
            try await queue.conclude(claim, event)
        }
    }

    /// Ends a job that was cancelled while we held it.
    private func dismiss(_ claim: Claim, _ hold: JobHold) async {
        _ = await insist(on: claim.job, hold, logger) { () async throws(QueueError) in
            try await queue.concludeCancelled(claim)
        }
    }

    private func handBack(_ claim: Claim, _ hold: JobHold) async {
        if hold.isCancelled { return await dismiss(claim, hold) }
        if hold.isLost { return refused(claim) }
        _ = await insist(on: claim.job, hold, logger) { () async throws(QueueError) in
            try await queue.release(job: claim.job, fence: claim.fence, .shutdown)
        }
    }

    private func end(_ claim: Claim, _ hold: JobHold, _ failure: Failure) async {
        _ = await insist(on: claim.job, hold, logger) { () async throws(QueueError) in
            try await queue.fail(claim, by: worker, failure, random: .random(in: 0...1))
        }
    }

    /// Notes that this worker came too late, for whoever wants to see that it changed nothing.
    private func refused(_ claim: Claim) {
        logger.notice("fenced", metadata: ["job": "\(claim.job)", "fence": "\(claim.fence)"])
        do {
            try effects?.note("fenced", claim.job, claim.generation, "-\(claim.fence)")
        } catch {
            logger.error("not noted", metadata: ["error": "\(error)"])
        }
    }
}
