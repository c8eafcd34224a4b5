import Adjustments
import FoundationEssentials
public import JobQueue
public import Library
public import Logging
import RenderProtocol
import SystemPackage

/// Carries one photo edit from claim to published version.
///
/// ```
/// claim → open the asset → plan → render → seal → commit → pointer → finalize
///            └──────── any failure ─────────────┘ └ idempotent: carried on by anybody ┘
///                          └ nothing to do: conclude
/// ```
public struct PhotoJobHandler: JobHandler {
    let queue: JobQueue
    let library: Library
    let editor: AssetEditor
    let settings: WorkerSettings
    let logger: Logger
    let listener: WorkerEvent.Listener

    /// A handler for jobs of `queue` on the photos of `library`.
    public init(
        queue: JobQueue, library: Library, pool: RenderPool, settings: WorkerSettings,
        logger: Logger, listener: @escaping WorkerEvent.Listener = { _ in }
    ) {
        self.queue = queue
        self.library = library
        editor = AssetEditor(
            library: library, pool: pool, editors: settings.editors, limits: settings.limits,
            resources: settings.resources,
            reuseWait: settings.reusesRenders ? settings.renderTimeout : nil)
        self.settings = settings
        self.logger = logger
        self.listener = listener
    }

    public func handle(_ claim: Claim, _ hold: JobHold) async {
        TestPoint.afterClaim.reach()
        let staged = StagedVersion(queue: queue.name.string, job: claim.job, fence: claim.fence)
        do {
            switch try await hold.whileHeld({ try await make(claim, staged, hold) }) {
            case .made(let version):
                TestPoint.beforeCommit.reach()
                hold.reach(.publishing)
                let standing = await insist(
                    on: claim.job, hold, logger, telling: listener,
                    { () async throws(QueueError) in
                        try await queue.commit(claim, version.event, isDraft: version.isDraft)
                    })
                switch standing {
                case .held: break
                case .cancelled: return await dismiss(claim, staged, hold)
                case .fenced, nil:
                    tell(.lost)
                    return await abandon(staged)
                }
                TestPoint.afterCommit.reach()
                await publish(
                    version.name, of: version.asset, staged, job: claim.job, fence: claim.fence,
                    hold)
            case .unchanged(let event):
                await finish(.unchanged, claim.job, hold) { () async throws(QueueError) in
                    try await queue.conclude(claim, event)
                }
                await abandon(staged)
            }
        } catch let failure as Failure {
            await end(claim, staged, failure, hold)
        } catch {
            // Cancelled: the lease is lost, nobody wants the job any more, or the worker hands it back.
            if hold.isCancelled { return await dismiss(claim, staged, hold) }
            let isRequeued = error is RenderRequeued
            await finish(isRequeued ? .requeued : .handedBack, claim.job, hold) {
                () async throws(QueueError) in
                try await queue.release(
                    job: claim.job, fence: claim.fence, isRequeued ? .pressure : .shutdown)
            }
            await abandon(staged)
        }
    }

    /// Ends a job that was cancelled while we held it.
    private func dismiss(_ claim: Claim, _ staged: StagedVersion, _ hold: JobHold) async {
        await finish(.cancelled, claim.job, hold) { () async throws(QueueError) in
            try await queue.concludeCancelled(claim)
        }
        await abandon(staged)
    }

    public func carryOn(_ job: CarriedJob, _ hold: JobHold) async {
        logger.notice(
            "carrying on a job whose worker died between commit and finalize",
            metadata: ["version": "\(job.version)"])
        guard let name = VersionName(job.version) else {
            logger.error("not a version name", metadata: ["version": "\(job.version)"])
            return
        }
        do {
            let asset = try AssetPath(job.asset)
            // The version was staged under the fence of the worker that made it.
            let staged = StagedVersion(
                queue: queue.name.string, job: job.job, fence: name.fence)
            await publish(name, of: asset, staged, job: job.job, fence: job.fence, hold)
        } catch {
            logger.error("carrying on failed", metadata: ["error": "\(error)"])
        }
    }

    /// Steps 2 and 3 of publishing; every step can be repeated, by us or by anybody.
    private func publish(
        _ name: VersionName, of asset: AssetPath, _ staged: StagedVersion, job: String,
        fence: String, _ hold: JobHold
    ) async {
        do {
            let publication = try await offPool { () throws(Failure) in
                try library.publish(name, of: asset, from: staged)
            }
            switch publication {
            case .published, .alreadyPublished:
                TestPoint.afterPointer.reach()
                await finish(.published, job, hold) { () async throws(QueueError) in
                    try await queue.finalize(job: job, fence: fence)
                }
            case .conflict, .lost:
                logger.notice("rendering again: \(publication)")
                await finish(.rebased, job, hold) { () async throws(QueueError) in
                    try await queue.release(job: job, fence: fence, .rebase)
                }
                await abandon(staged)
            }
        } catch {
            // The job stays `committing`; when its lease runs out somebody tries again.
            logger.error(
                "the version could not be published; it is tried again after the lease",
                metadata: ["error": "\(error)"])
            tell(.failed(error.code))
        }
    }

    /// Tells what the render will look like, roughly. Not insisted on: it is out of date soon.
    func preview(_ claim: Claim, _ placeholder: String) async {
        do {
            _ = try await queue.preview(
                claim,
                JobEvent.Previewed(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: settings.name, placeholder: placeholder))
        } catch {
            logger.info("a placeholder was not told", metadata: ["error": "\(error)"])
        }
    }

    private func end(
        _ claim: Claim, _ staged: StagedVersion, _ failure: Failure, _ hold: JobHold
    ) async {
        logger.warning(
            "attempt failed",
            metadata: [
                "code": "\(failure.code.rawValue)", "error": "\(failure.message)",
            ])
        await finish(.failed(failure.code), claim.job, hold) { () async throws(QueueError) in
            try await queue.fail(
                claim, by: settings.name, failure,
                Attempt.Trace(stage: hold.stage?.rawValue, signal: failure.signal),
                random: .random(in: 0...1))
        }
        await abandon(staged)
    }

    private func abandon(_ staged: StagedVersion) async {
        do {
            try await offPool { () throws(Failure) in try library.discard(staged) }
        } catch {
            logger.warning(
                "a staged version stays behind until the next sweep",
                metadata: ["error": "\(error)"])
        }
    }

    public func sweep() async {
        do {
            let staged = try await offPool { () throws(Failure) in
                try library.staged(in: queue.name.string)
            }
            for version in staged where try await !isWanted(version) {
                try await offPool { () throws(Failure) in try library.discard(version) }
                logger.info(
                    "swept",
                    metadata: ["job": "\(version.job)", "fence": "\(version.fence)"])
            }
        } catch {
            logger.warning("sweeping staging failed", metadata: ["error": "\(error)"])
        }
    }

    /// Whether a staged version belongs to the job's present hold, or waits to be published.
    ///
    /// Fences never come back, so a version that is unwanted once is unwanted for ever.
    private func isWanted(_ staged: StagedVersion) async throws(QueueError) -> Bool {
        guard let record = try await queue.record(of: staged.job) else { return false }
        switch record.state {
        case "active": return record.fence == staged.fence
        case "committing":
            return record.version.flatMap(VersionName.init)?.fence == staged.fence
        default: return false
        }
    }
}
