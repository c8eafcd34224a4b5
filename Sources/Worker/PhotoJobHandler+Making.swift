import Adjustments
import FoundationEssentials
import JobQueue
import Library

extension PhotoJobHandler {
    /// What came of a job's edit, as its event will tell it.
    enum Result: Sendable {
        /// A version is complete in staging, ready to be published.
        case made(Made)
        /// There was nothing to do.
        case unchanged(JobEvent.Unchanged)
    }

    /// A version that is complete in staging.
    struct Made: Sendable {
        let name: VersionName
        let asset: AssetPath
        let isDraft: Bool
        let event: JobEvent.Completed
    }

    /// Carries a job's edit out, up to the version that is complete in staging.
    ///
    /// - Throws: a `Failure`, or `CancellationError`.
    func make(
        _ claim: Claim, _ staged: StagedVersion, _ hold: JobHold
    ) async throws -> Result {
        hold.reach(.rendering)
        let edit = try Edit(json: claim.edit)
        let asset = try AssetPath(claim.asset)
        guard claim.rebases <= queue.settings.rebasesMax else {
            throw Failure(
                .revisionConflict,
                "the asset changed under \(claim.rebases) renders of this job; somebody else "
                    + "writes to it all the time.")
        }
        let author = Provenance.Author(
            queue: staged.queue, job: claim.job, generation: claim.generation,
            attempt: claim.attempt, worker: settings.name, at: Date.now.formatted(.iso8601))
        let outcome = try await editor.make(
            edit, of: asset,
            AssetEditor.Job(
                staged: staged, author: author, isAlone: claim.isAlone, reach: { hold.reach($0) })
        ) { placeholder in await preview(claim, placeholder) }
        switch outcome {
        case .unchanged(let reason, let current):
            return .unchanged(
                JobEvent.Unchanged(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: settings.name, mode: edit.mode.name,
                    version: current.map { JobEvent.Version($0, asset) }, reason: reason))
        case .made(let version):
            guard let name = VersionName(version.version) else {
                throw Failure(.internalError, "\(version.version) is no name of a version.")
            }
            return .made(
                Made(
                    name: name, asset: asset, isDraft: version.isDraft,
                    event: completed(claim, version, asset)))
        }
    }

    private func completed(
        _ claim: Claim, _ version: Provenance, _ asset: AssetPath
    ) -> JobEvent.Completed {
        let content = version.content
        // What an older version or an import shows was rendered by another job, or elsewhere.
        let isNew = version.mode.rendersAnew && content?.reusedFrom == nil
        let rendering = isNew ? content?.rendering : nil
        return JobEvent.Completed(
            job: claim.job, asset: claim.asset, generation: claim.generation,
            attempt: claim.attempt, worker: settings.name, mode: version.mode,
            version: JobEvent.Version(version, asset),
            render: content.map { JobEvent.Render($0.render) },
            previews: (content?.previews ?? []).map {
                JobEvent.Preview($0, of: version, asset)
            },
            placeholder: content?.placeholder, filters: content?.recipe?.filters,
            reusedFrom: version.mode.rendersAnew ? content?.reusedFrom : nil,
            timings: JobEvent.Timings(
                queuedMilliseconds: claim.queued / .milliseconds(1),
                renderMilliseconds: rendering?.wallMilliseconds ?? 0,
                cpuMilliseconds: rendering?.cpuMilliseconds ?? 0),
            peakMemoryBytes: rendering?.peakMemoryBytes ?? 0)
    }
}

extension Edit.Name {
    fileprivate var rendersAnew: Bool {
        switch self {
        case .replace, .append, .amend, .copyEdit, .render, .import: true
        case .revert, .undo, .redo, .publish, .discard: false
        }
    }
}

extension JobEvent.Version {
    init(_ version: Provenance, _ asset: AssetPath) {
        self.init(
            id: version.version, revision: version.revision,
            path: Library.shownPath(of: version, asset))
    }
}

extension JobEvent.Render {
    fileprivate init(_ image: Content.Image) {
        self.init(
            mediaType: image.mediaType, width: image.size.width, height: image.size.height,
            bytes: image.bytes, sha256: image.sha256)
    }
}

extension JobEvent.Preview {
    fileprivate init(_ preview: Content.Preview, of version: Provenance, _ asset: AssetPath) {
        self.init(
            longestSide: preview.longestSide,
            path: "\(Library.path(of: version, asset))/\(preview.image.name)",
            width: preview.image.size.width, height: preview.image.size.height)
    }
}
