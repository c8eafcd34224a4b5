import Editors
public import Edits
import Files
import FoundationEssentials
public import Library
public import RenderPool
public import RenderProtocol
import SystemPackage

/// Carries out edits: reads the asset's state, lets ``EditPlan`` decide, and makes the version in staging.
///
/// It does not know the queue. The library publishes the versions that it makes.
package struct AssetEditor: Sendable {
    let library: any VersionWriter & RenderReuse
    let pool: RenderPool
    let editors: EditorRegistry
    let limits: RenderLimits
    let resources: String?
    /// How long to wait for another job that makes the same render. nil: each photo is rendered, and no render is
    /// reused.
    var reuseWait: Duration? = .seconds(300)
    /// Whether a render may be reused for a job of another tenant.
    var sharesAmongTenants = false
    let digests = DigestMemo()

    package enum Outcome: Sendable {
        /// A version is sealed in staging, with these renditions.
        case made(Provenance, MadeRenditions)
        /// Renditions of a version are in the library; the reason why the edit changes nothing else.
        case rendered(Provenance, MadeRenditions, reason: String?)
        /// There was nothing to do.
        case unchanged(reason: String, current: Provenance?)
        /// A version or draft of an edit that arrived later is kept.
        case superseded(by: Provenance, reason: String)
    }

    /// The hold of the job that carries out an edit.
    package struct Job: Sendable {
        let staged: StagedVersion
        var author: Provenance.Author
        /// The queue's time at which the job begins, in µs since 1970; nil if no queue sent it.
        package var queueTime: Int?
        /// The highest revision of the asset that was told of a library that was set back since; 0 if it was not.
        package var told = 0
        /// Whether no other photo renders at the same time. The render may then use all the memory, since an
        /// earlier estimate was wrong.
        package var isExclusive = false
        /// The job as the pool of children sees it.
        var borrower: Borrower
        /// Called with each stage that the job reaches.
        package var reach: @Sendable (EditStage) -> Void = { _ in }
        /// Called with the rendered share of a movie.
        package var progress: @Sendable (MovieProgress) -> Void = { _ in }
        package var desk = JobDesk()

        package init(staged: StagedVersion, author: Provenance.Author, borrower: Borrower) {
            self.staged = staged
            self.author = author
            self.borrower = borrower
        }
    }

    /// Carries out an edit, up to the sealed version.
    ///
    /// - Throws: a `Failure`, or `CancellationError`.
    package func make(
        _ edit: Edit, of asset: AssetPath, _ job: Job
    ) async throws -> Outcome {
        let open = try await self.open(asset, for: edit.mode.name)
        if let outcome = try await madeBefore(edit, open, job) { return outcome }
        let job = job.arriving(in: open.state)
        if case .renditions(let name) = edit.mode {
            // No edit: it arrives in no order.
            return try await makeRenditions(
                of: version(forRenditions: name, open), edit, open, reason: nil, job)
        }
        if let newer = try NewerEdit(than: edit, arrivedAt: job.author.arrival, open) {
            return .superseded(by: newer.version, reason: newer.reason)
        }
        switch try await plan(edit, open, for: job.borrower) {
        case .unchanged(let reason):
            guard try await confirm(edit, open, job) else {
                return try await make(edit, of: asset, job)
            }
            if !edit.renditions.isEmpty, let current = open.state.current {
                return try await makeRenditions(of: current, edit, open, reason: reason, job)
            }
            return .unchanged(reason: reason, current: open.state.current)
        case .discard(let draft):
            // Any draft: the one that was seen, because another queue's job may have made a newer one since.
            let seen = open.state.draft.flatMap { VersionName($0.version) }
            let discarded = try await library.discardDraft(of: asset, draft ?? seen)
            if draft == nil, discarded != seen {
                return try await make(edit, of: asset, job)
            }
            return .unchanged(
                reason: discarded.map { "the draft \($0) was discarded" }
                    ?? "there is no such draft", current: open.state.current)
        case .restore(let restoration):
            return try await restore(restoration, edit, open, job)
        case .adopt(let adoption):
            try library.checkStem(of: asset, format: nil)
            return try await adopt(adoption, edit, open, job)
        case .render(let task):
            try library.checkStem(of: asset, format: task.recipe.output.format)
            return try await render(task, edit, open, job)
        }
    }

    /// Records an edit that changes nothing as the latest one to arrive.
    ///
    /// - Returns: false if another version became current in the meantime. The edit may then change something, and
    ///   the caller plans again. Each repetition means that another job has published, so the loop ends.
    private func confirm(_ edit: Edit, _ open: OpenAsset, _ job: Job) async throws -> Bool {
        guard !edit.isDraft, let version = open.state.current, let arrival = job.author.arrival
        else { return true }
        return try await library.confirm(version, of: open.asset, at: arrival)
    }

    /// Returns the outcome of an earlier run of the job that Redis has lost; nil if there was none.
    ///
    /// The published version is the outcome, and its event is sent again, because the first one was lost. Without
    /// this check an edit that builds on the present state would be applied twice.
    private func madeBefore(
        _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Outcome? {
        let identity = PublishedJob(job.author, edit: edit.digest, version: "")
        switch try await library.publishedBefore(identity, of: open.asset, open.state) {
        case .kept(let version):
            guard let name = VersionName(version.version) else {
                return .made(version, MadeRenditions())
            }
            return .made(
                version,
                MadeRenditions(
                    try await library.sizes(of: name, open.asset), of: version.author, edit))
        case .gone(let name):
            return .unchanged(
                reason:
                    "the version \(name) of this very job was published before and is not kept any more",
                current: open.state.current)
        case nil: return nil
        }
    }

    /// Reads the state of an asset. If the new edit builds on the last one, also asks the editors whether they can
    /// read it.
    ///
    /// Edits that do not build on the last one must work in whatever state the sidecar is.
    func open(_ asset: AssetPath, for mode: Edit.Name) async throws(Failure) -> OpenAsset {
        var open = OpenAsset(asset: asset, state: try await library.state(of: asset))
        // Checked before rendering: a version that cannot be stored could never be published.
        if open.state == AssetState() { try await library.checkEntries(of: asset) }
        if mode.buildsOnLastEdit, let current = open.state.current, let content = current.content {
            open.answer = try await answer(content, of: current, asset)
        }
        return open
    }

    /// Returns the answer to `canHandle` for a content's adjustment data.
    func answer(
        _ content: Content, of version: Provenance, _ asset: AssetPath
    ) async throws(Failure) -> EditorAnswer {
        let sidecar = try await library.sidecar(of: content, in: version, asset)
        guard (sidecar.base == .adjusted) == (content.base != nil) else {
            return .cannotHandle("it was made on an adjusted base, which did not come along.")
        }
        return editors.open(sidecar.adjustment, of: content.input.photo)
    }

    /// Decides what an edit does to an asset.
    ///
    /// - Throws: `missingAsset` instead of a missing version or draft, and instead of nothing to do, if there is no such photo.
    func plan(
        _ edit: Edit, _ open: OpenAsset, for borrower: Borrower
    ) async throws -> EditPlan {
        do {
            let plan = try await decide(edit, open, for: borrower)
            if case .unchanged = plan { try await checkPhoto(of: open) }
            return plan
        } catch let failure as Failure
            where failure.code == .missingVersion || failure.code == .missingDraft
        {
            try await checkPhoto(of: open)
            throw failure
        }
    }

    /// Throws unless the asset has an edit or an original.
    ///
    /// Only what reads no original asks for this: an edit that renders fails by itself, and in a bucket each look is a request.
    ///
    /// - Throws: `missingAsset`, and the other failures of `checkOriginal(of:)`.
    func checkPhoto(of open: OpenAsset) async throws(Failure) {
        guard open.state == AssetState() else { return }
        try await library.checkOriginal(of: open.asset)
    }

    private func decide(
        _ edit: Edit, _ open: OpenAsset, for borrower: Borrower
    ) async throws -> EditPlan {
        let asset = open.asset
        var open = open
        let sent = edit.mode.name.buildsOnLastEdit ? open.content?.sent : nil
        open.pictures = try await pictureSizes(
            edit.mode.sizedPictures.union(sent?.sizedPictures ?? []), for: borrower)
        switch edit.mode {
        case .replace(let steps): return try .replace(steps, edit, open)
        case .append(let steps): return try .append(steps, edit, open)
        case .amend(let amendments): return try .amend(amendments, edit, open)
        case .render: return try .again(edit, open)
        case .revert: return .revert(open)
        case .renditions: return .unchanged("renditions change no version")
        case .publish(let version): return try .publish(version, open)
        case .discard(let version): return try .removeDraft(version)
        case .undo:
            let target = try await version(open.state.current?.timeline.before, of: asset)
            return try .undo(open) { _ in target }
        case .redo:
            let target = try await version(open.state.current?.timeline.redo.first, of: asset)
            return try .redo(open) { _ in target }
        case .copyEdit(let source):
            return try await copy(source, edit, open, borrower)
        case .import(let source):
            return try .adopt(await read(source, open.asset, borrower), edit, open)
        }
    }

    func version(
        _ name: String?, of asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        guard let name = name.flatMap(VersionName.init) else { return nil }
        return try await library.provenance(of: name, asset)
    }

    private func copy(
        _ source: Edit.EditSource, _ edit: Edit, _ open: OpenAsset, _ borrower: Borrower
    ) async throws -> EditPlan {
        let version: Provenance?
        if let name = source.version {
            version = try await self.version(name, of: source.asset)
        } else {
            let state = try await library.state(of: source.asset)
            if state == AssetState() { try await library.checkOriginal(of: source.asset) }
            version = state.current
        }
        guard let version, let content = version.content else {
            throw Failure(
                .missingVersion,
                "edit.from is \(source.asset.string.debugDescription), which has no "
                    + (source.version.map { "version \($0)" } ?? "edit") + " to copy.")
        }
        let recipe = try await answer(content, of: version, source.asset)
            .recipe(of: source.asset, content.adjustment)
        var open = open
        if let sent = content.sent {
            open.pictures.merge(
                try await pictureSizes(sent.sizedPictures, for: borrower)
            ) { $1 }
        }
        return try .copy(
            Recipe(
                filters: (content.sent ?? recipe).filters, output: content.output(recipe)),
            of: content.input.photo.uprightSize, from: "\(source.asset)@\(version.version)", edit,
            open)
    }

}

extension AssetEditor {
    /// Creates an editor of the assets of a library. It waits for another job's render as long as a render may take.
    package init(
        library: any VersionWriter & RenderReuse, pool: RenderPool, settings: EditingSettings
    ) {
        self.init(
            library: library, pool: pool, editors: settings.editors, limits: settings.limits,
            resources: settings.resources,
            reuseWait: settings.reusesRenders ? pool.renderTimeout : nil,
            sharesAmongTenants: settings.sharesRendersAmongTenants)
    }
}

extension PhotoHeader {
    var photo: EditedPhoto {
        EditedPhoto(
            storedSize: storedSize, orientation: Orientation(rawValue: orientation) ?? .upright)
    }
}

extension AssetEditor {
    /// Renders a part of another job's movie and stores it in the library, where that job's worker finds it.
    ///
    /// - Throws: `ioFailure` if the original differs from the one that the job's worker has read; the errors of
    ///   rendering.
    package func makePart(_ number: Int, of task: PartTask, _ job: Job) async throws {
        let source = try await openPhoto(AssetPath(task.asset), for: job.borrower)
        try await begin(job.staged)
        try await inSlot(job) {
            try await pool.planning { memoryMax in
                let files = try await offPool { () throws(Failure) in
                    try self.files(source, for: task.recipe, of: job.borrower.owner)
                }
                let request = PhotoRequest(
                    recipe: task.recipe, limits: limits,
                    pictures: try await pictureSizes(
                        task.recipe.sizedPictures, for: job.borrower),
                    memoryMax: memoryMax)
                let inspection = try await pool.inspect(request, files, for: job.borrower)
                let sha256 = try await digests.hex(of: source)
                let key = try RenderKey(
                    request, inspection.header, sha256, of: ownerOfRender(job))
                guard key.hex == task.key else {
                    throw Failure(
                        .ioFailure,
                        "\(source.name) is not what it was when its job began, so no part of it is rendered here. "
                            + "Put originals in their place by a rename, and never change one.")
                }
                let movie = MovieParts(
                    pool: pool, borrower: job.borrower, request: request, files: files,
                    inspection: inspection, kept: .init(library: library, key: key))
                job.reach(.rendering)
                try await movie.keepPart(number) {
                    () throws(Failure) in try library.staging.scratch(for: job.staged)
                }
            }
        }
    }
}

/// The stage of an edit: shown to operators, and recorded in a job's history when its worker dies.
package enum EditStage: String, Sendable {
    /// The edit is decided, and the photo is being transferred to this machine.
    case fetching
    /// The photo waits for a slot, or its render for memory.
    case waiting
    /// The photo is being decoded and rendered.
    case rendering
    /// The version is being transferred to the library and published.
    case publishing
}

/// Forecasts the effect of a job without running it, by the same decisions as the worker's.
public struct EditForecaster: Sendable {
    private let editor: AssetEditor

    /// - Parameter pool: the pool that reads the photos' headers.
    public init(
        library: any VersionWriter & RenderReuse, pool: RenderPool, settings: EditingSettings
    ) {
        editor = AssetEditor(
            library: library, pool: pool, editors: settings.editors, limits: settings.limits,
            resources: settings.resources)
    }

    public enum Forecast: Sendable {
        /// There is nothing to do, for this reason.
        case unchanged(String)
        /// A version without a new render: an older content or an imported render.
        case noRender
        case render(Inspection)
    }

    /// Reads the state of an asset and decides.
    ///
    /// - Throws: the `Failure` with which the job would fail.
    public func forecast(_ edit: Edit, of asset: AssetPath) async throws -> Forecast {
        let open = try await editor.open(asset, for: edit.mode.name)
        // A manifest may name assets of any tenant.
        let borrower = Borrower(.photo(asset.string))
        let wanted = WantedRenditions(edit.renditions)
        if case .renditions(let name) = edit.mode {
            return .render(
                try await editor.inspectRenditions(
                    edit, of: editor.version(forRenditions: name, open), asset, for: borrower))
        }
        switch try await editor.plan(edit, open, for: borrower) {
        case .unchanged(let reason):
            guard !wanted.isEmpty, let current = open.state.current else {
                return .unchanged(reason)
            }
            return .render(
                try await editor.inspectRenditions(edit, of: current, asset, for: borrower))
        case .discard, .restore, .adopt: return .noRender
        case .render(let task):
            let source = try await editor.source(of: task, open, for: borrower)
            return .render(
                try await editor.rehearse(
                    edit, asset, source,
                    PhotoRequest(
                        recipe: task.recipe, limits: editor.limits, pictures: task.pictures,
                        outputs: [.full] + wanted.outputs), for: borrower))
        }
    }
}

extension AssetEditor {
    /// Reads a photo's header for a request that is not carried out, and checks what a job would miss: values of placeholders, pictures,
    /// fonts and letters.
    func rehearse(
        _ edit: Edit, _ asset: AssetPath, _ source: OpenFile, _ request: PhotoRequest,
        for borrower: Borrower
    ) async throws -> Inspection {
        let renditions = WantedRenditions(edit.renditions)
        let files = try await offPool { () throws(Failure) in
            try self.files(
                source, for: request.recipe, renditions: renditions.all.map(\.rendition),
                of: borrower.owner)
        }
        let inspection = try await pool.inspect(request, files, for: borrower)
        // A batch and its numbers are not known yet, and each job of one has both.
        var values = try await pool.completed(
            PlaceholderValues(
                asset: asset, batch: "batch", index: 0, fields: edit.fields?.byName ?? [:]),
            for: request, files, for: borrower)
        var filled = request
        try filled.fill(by: &values, at: nil)
        let wanted = try renditions.filled(
            by: values, beside: filled.recipe.output)
        for one in wanted.all where one.rendition.isRequired {
            for digest in one.rendition.pictureDigests.sorted() where files.resources[digest] == nil
            {
                throw Failure.missingResource(digest, at: Rendition.path(one.name))
            }
        }
        filled.outputs = wanted.outputs
        _ = try await pool.drawTexts(
            of: filled, files, on: inspection.plan.resultSize, for: borrower, in: resources)
        return inspection
    }

    /// Opens the file from which a render starts.
    fileprivate func source(
        of task: EditPlan.RenderTask, _ open: OpenAsset, for borrower: Borrower
    ) async throws(Failure) -> OpenFile {
        guard task.input != .original, let current = open.state.current,
            let content = current.content
        else { return try await openPhoto(open.asset, for: borrower) }
        let layer = task.input == .base ? content.base?.name : nil
        return try await library.open(
            StoredFile(layer ?? content.render.name, of: current, open.asset))
    }
}
