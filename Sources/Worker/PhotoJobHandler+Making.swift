import Adjustments
import FoundationEssentials
import JobQueue
import Library
import RenderProtocol
import SystemPackage

extension PhotoJobHandler {
    /// A version that is complete in staging, ready to be published.
    struct SealedVersion: Sendable {
        let name: VersionName
        let asset: AssetPath
        let event: JobEvent.Completed
    }

    /// Renders a job's photo and makes the version of it last, in staging.
    ///
    /// - Throws: a `Failure`, or `CancellationError`.
    func make(_ claim: Claim, _ staged: StagedVersion) async throws -> SealedVersion {
        let recipe = try Recipe(json: claim.edit)
        let asset = try AssetPath(claim.asset)
        guard claim.rebases <= queue.settings.rebasesMax else {
            throw Failure(
                .revisionConflict,
                "the asset changed under \(claim.rebases) renders of this job; somebody else "
                    + "writes to it all the time.")
        }
        let (source, base, folder) = try await offPool { () throws(Failure) in
            (
                try library.original(of: asset), try library.current(of: asset),
                try library.stage(staged)
            )
        }
        let report = try await pool.render(
            PhotoRequest(
                source: source.string, recipe: recipe, limits: settings.limits,
                resources: settings.resources,
                folder: folder.string, stem: asset.stem))
        let name = VersionName(revision: (base?.revision ?? 0) + 1, fence: claim.fence)
        let now = Date.now
        let provenance = Provenance(
            version: name, base: base, queue: staged.queue, job: claim.job,
            generation: claim.generation, attempt: claim.attempt, worker: settings.name,
            engine: Engine.name, renderedAt: now.formatted(.iso8601),
            asset: asset, report: report)
        try await offPool { () throws(Failure) in
            try library.seal(staged, provenance, stem: asset.stem, timestamp: now)
        }
        return SealedVersion(
            name: name, asset: asset, event: event(claim, report, name, asset))
    }

    private func event(
        _ claim: Claim, _ report: RenderReport, _ name: VersionName, _ asset: AssetPath
    ) -> JobEvent.Completed {
        JobEvent.Completed(
            job: claim.job, asset: claim.asset, generation: claim.generation,
            attempt: claim.attempt, worker: settings.name,
            version: JobEvent.Version(
                id: name.description, revision: name.revision,
                path: "edits/\(asset)/versions/\(name)/\(report.output.name)"),
            render: JobEvent.Render(
                mediaType: report.output.mediaType, width: report.output.size.width,
                height: report.output.size.height, bytes: report.output.bytes,
                sha256: report.output.digest),
            filters: report.recipe.filters,
            timings: JobEvent.Timings(
                queuedMilliseconds: Double(claim.queued / .milliseconds(1)),
                renderMilliseconds: report.wallMilliseconds,
                cpuMilliseconds: report.cpuMilliseconds),
            peakMemoryBytes: report.peakMemoryBytes)
    }
}

extension Provenance {
    init(
        version: VersionName, base: VersionName?, queue: String?, job: String, generation: Int,
        attempt: Int, worker: String, engine: String, renderedAt: String, asset: AssetPath,
        report: RenderReport
    ) {
        self.init(
            version: version, base: base, queue: queue, job: job, generation: generation,
            attempt: attempt, worker: worker, engine: engine, renderedAt: renderedAt,
            source: Source(
                asset: asset.string, sha256: report.sourceDigest, format: report.header.format,
                size: report.header.storedSize, orientation: report.header.orientation),
            recipe: report.recipe,
            plan: report.plan.description.split(separator: "\n").map(String.init),
            render: Render(
                name: report.output.name, mediaType: report.output.mediaType,
                size: report.output.size, bytes: report.output.bytes,
                sha256: report.output.digest),
            cpuMilliseconds: report.cpuMilliseconds, peakMemoryBytes: report.peakMemoryBytes)
    }
}
