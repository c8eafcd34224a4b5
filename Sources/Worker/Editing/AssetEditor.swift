import Adjustments
import Editors
import FoundationEssentials
import JobQueue
import Library
import RenderProtocol
import SystemPackage

/// Carries edits out: looks at the asset, lets ``EditPlan`` decide, and makes the version of it in staging.
///
/// It knows no queue. What it makes is published by the library.
struct AssetEditor: Sendable {
    let library: any LibraryStore
    let pool: RenderPool
    let editors: EditorRegistry
    let limits: RenderLimits
    let resources: String?
    /// How long to wait for another job that makes the same render; nil: each photo is rendered, and no render is
    /// used again.
    var reuseWait: Duration? = .seconds(300)
    /// Whether a render may be used again for another tenant's job.
    var sharesAmongTenants = false
    let digests = DigestMemo()

    /// What came of an edit.
    enum Outcome: Sendable {
        /// A version is sealed in staging.
        case made(Provenance)
        /// There was nothing to do.
        case unchanged(reason: String, current: Provenance?)
        /// A version or draft that arrived later stays.
        case superseded(by: Provenance, reason: String)
    }

    /// The hold of the job under which an edit is carried out.
    struct Job: Sendable {
        let staged: StagedVersion
        let author: Provenance.Author
        /// Nothing else is rendered meanwhile: the render may use all the memory, since an estimate was wrong before.
        var isAlone = false
        /// Whose job it is: no child that was used for another's is used for it.
        var tenant = ""
        /// Told how far it is.
        var reach: @Sendable (JobHold.Stage) -> Void = { _ in }
        /// Told how much of a movie is rendered.
        var progress: @Sendable (JobProgress) -> Void = { _ in }
        /// Where other workers are asked to render parts of its movie.
        var desk = JobDesk()
    }

    /// Carries an edit out, up to the sealed version.
    ///
    /// - Parameter placeholder: told a tiny picture of the result, ahead of the render, if previews are asked for.
    /// - Throws: a `Failure`, or `CancellationError`.
    func make(
        _ edit: Edit, of asset: AssetPath, _ job: Job,
        placeholder: @escaping @Sendable (String) async -> Void = { _ in }
    ) async throws -> Outcome {
        let open = try await self.open(asset, for: edit.mode.name)
        if let outcome = try await madeBefore(edit, open, job) { return outcome }
        if let newer = try NewerEdit(than: edit, arrivedAt: job.author.arrival, open) {
            return .superseded(by: newer.version, reason: newer.reason)
        }
        switch try await plan(edit, open, tenant: job.tenant) {
        case .unchanged(let reason):
            guard try await confirm(edit, open, job) else {
                return try await make(edit, of: asset, job, placeholder: placeholder)
            }
            return .unchanged(reason: reason, current: open.state.current)
        case .discard(let draft):
            let discarded = try await library.discardDraft(of: asset, draft)
            return .unchanged(
                reason: discarded.map { "the draft \($0) was discarded" }
                    ?? "there is no such draft", current: open.state.current)
        case .restore(let restoration):
            return .made(try await restore(restoration, edit, open, job))
        case .adopt(let adoption):
            try library.checkStem(of: asset, format: nil)
            return .made(
                try await adopt(adoption, edit, open, job, placeholder: placeholder))
        case .render(let task):
            try library.checkStem(of: asset, format: task.recipe.output.format)
            return .made(try await render(task, edit, open, job, placeholder: placeholder))
        }
    }

    /// Has an edit that changes nothing count as the one that arrived last.
    ///
    /// - Returns: false when another version became current meanwhile: then the edit may change something. Each time
    ///   somebody else has published, so this ends.
    private func confirm(_ edit: Edit, _ open: OpenAsset, _ job: Job) async throws -> Bool {
        guard !edit.isDraft, let version = open.state.current, let arrival = job.author.arrival
        else { return true }
        return try await library.confirm(version, of: open.asset, at: arrival)
    }

    /// What the job came to when it ran before, if Redis has lost that it did; nil when it did not.
    ///
    /// The version that stands is the outcome, so the event tells of it, as the one that was lost did. An edit that
    /// builds on what is there would be done twice otherwise.
    private func madeBefore(
        _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Outcome? {
        let identity = PublishedJob(job.author, edit: edit.json.digest, version: "")
        switch try await library.publishedBefore(identity, of: open.asset, open.state) {
        case .kept(let version): return .made(version)
        case .gone(let name):
            return .unchanged(
                reason:
                    "the version \(name) of this very job was published before and is not kept any more",
                current: open.state.current)
        case nil: return nil
        }
    }

    /// Looks at an asset and asks the editors about the edit that is there, if the new one builds on it.
    ///
    /// What does not has to be possible whatever became of the sidecar.
    func open(_ asset: AssetPath, for mode: Edit.Name) async throws(Failure) -> OpenAsset {
        var open = OpenAsset(asset: asset, state: try await library.state(of: asset))
        // Before a pixel is rendered: a version that has no place could never be published.
        if open.state == AssetState() { try await library.checkPlace(of: asset) }
        if mode.buildsOnLastEdit, let current = open.state.current, let content = current.content {
            open.answer = try await answer(content, of: current, asset)
        }
        return open
    }

    /// The answer to `canHandle` for a content's adjustment data.
    func answer(
        _ content: Content, of version: Provenance, _ asset: AssetPath
    ) async throws(Failure) -> EditorAnswer {
        let sidecar = try await library.sidecar(of: content, in: version, asset)
        guard (sidecar.base == .adjusted) == (content.base != nil) else {
            return .cannotHandle("it was made on an adjusted base, which did not come along.")
        }
        return editors.open(sidecar.adjustment, of: content.input.photo)
    }

    func plan(
        _ edit: Edit, _ open: OpenAsset, tenant: String = ""
    ) async throws -> EditPlan {
        let asset = open.asset
        switch edit.mode {
        case .replace(let steps): return try .replace(steps, edit, open)
        case .append(let steps): return try .append(steps, edit, open)
        case .amend(let amendments): return try .amend(amendments, edit, open)
        case .render: return try .again(edit, open)
        case .revert: return .revert(open)
        case .publish(let version): return try .publish(version, open)
        case .discard(let version): return try .removeDraft(version)
        case .undo:
            let target = try await version(open.state.current?.timeline.before, of: asset)
            return try .undo(open) { _ in target }
        case .redo:
            let target = try await version(open.state.current?.timeline.redo.first, of: asset)
            return try .redo(open) { _ in target }
        case .copyEdit(let source):
            return try await copy(source, edit, open)
        case .import(let source):
            return try .adopt(await read(source, open.asset, tenant), edit, open)
        }
    }

    private func version(
        _ name: String?, of asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        guard let name = name.flatMap(VersionName.init) else { return nil }
        return try await library.provenance(of: name, asset)
    }

    private func copy(
        _ source: Edit.EditSource, _ edit: Edit, _ open: OpenAsset
    ) async throws(Failure) -> EditPlan {
        let version: Provenance?
        if let name = source.version {
            version = try await self.version(name, of: source.asset)
        } else {
            version = try await library.state(of: source.asset).current
        }
        guard let version, let content = version.content else {
            throw Failure(
                .missingVersion,
                "edit.from is \(source.asset.string.debugDescription), which has no "
                    + (source.version.map { "version \($0)" } ?? "edit") + " to copy.")
        }
        let recipe = try await answer(content, of: version, source.asset)
            .recipe(of: source.asset, content.adjustment)
        return try .copy(
            Recipe(filters: recipe.filters, output: content.output(recipe)),
            of: content.input.photo.uprightSize, from: "\(source.asset)@\(version.version)", edit,
            open)
    }

}

extension PhotoHeader {
    /// The IANA media type.
    var mediaType: String { movie?.container.mediaType ?? "image/" + format.rawValue }

    var photo: EditedPhoto {
        EditedPhoto(
            storedSize: storedSize, orientation: Orientation(rawValue: orientation) ?? .upright)
    }
}
