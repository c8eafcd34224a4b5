import Edits
import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol
import Synchronization
import SystemPackage
import Telemetry

/// Making and accepting renditions.
extension AssetEditor {
    /// Accepts the renditions of a request into the staged version.
    ///
    /// Their sizes follow from the edited picture by ``Fit``, and are computed here once more: a child that reports
    /// another one is not believed.
    ///
    /// - Parameters:
    ///   - first: the index of the first one among the outputs.
    ///   - reports: what the child reports of its outputs.
    ///   - request: the request that was rendered, with the coverage of texts.
    ///   - use: what the render used.
    func accept(
        _ wanted: WantedRenditions, after first: Int, of files: RenderFiles,
        _ reports: RenditionReports, _ request: PhotoRequest, _ use: RenderUse,
        _ subject: RenditionSubject, into staged: StagedVersion
    ) throws(Failure) -> MadeRenditions {
        var made = wanted.begun
        for (place, one) in wanted.all.enumerated() {
            let (name, rendition) = (one.name, one.rendition)
            let planned = rendition.fit.placement(of: subject.size).size
            let report = reports[first + place]
            if case .missed(let failure)? = report, !rendition.isRequired {
                made.failures[name] = failure
                continue
            }
            guard case .made(let result)? = report, result.isOf(planned, rendition) else {
                throw RenderedResult.refusal(
                    "does not report the rendition \(name) of \(planned) pixels that was asked for")
            }
            let size = PixelSize(width: result.width, height: result.height)
            let image = try accept(
                files.outputs[first + place],
                as: SizeList.stagedName(rendition.fileName(name)),
                RenderedResult(
                    format: rendition.output.format ?? .jpeg, size: .exactly(size), limits: limits,
                    wantedMax: rendition.target?.bytesMax ?? .max),
                sourceBytes: subject.sourceBytes, into: staged)
            made.list.renditions[name] = StoredRendition(
                name, rendition, key: subject.key(of: rendition), made: image.file, result,
                by: subject.author,
                of: .here(
                    use.drawing(request.outputs[first + place].texts).versions(
                        of: UsedLibraries.names(rendition, of: subject.header, subject.filters))))
        }
        return made
    }

    /// Makes the renditions of a photo whose render is there.
    ///
    /// - Parameters:
    ///   - request: the request for the edited picture; its outputs are replaced.
    ///   - files: the photo, and the resources that the edit names.
    func makeRenditions(
        _ wanted: WantedRenditions, _ request: PhotoRequest, _ files: RenderFiles,
        as inspection: Inspection, of subject: RenditionSubject, _ job: Job
    ) async throws -> MadeRenditions {
        guard !wanted.isEmpty else { return wanted.begun }
        var request = request
        (request.recipe, request.outputs) = (inspection.recipe, wanted.outputs)
        let (asked, drawn, missed) = try await drawTexts(of: request, files, on: subject.size, job)
        let wanted = wanted.missing(missed)
        guard !wanted.isEmpty else { return wanted.begun }
        let files = try await offPool { () throws(Failure) in
            try self.files(drawn, for: asked, in: job.staged)
        }
        job.reach(.waiting)
        return try await pool.lend(inspection.memoryBytes, to: job.borrower) { child in
            job.reach(.rendering)
            let reports = RenditionReports()
            let use = try await child.render(asked, files, as: inspection, progress: reports.note)
            return try await offPool { () throws(Failure) in
                var made = try self.accept(
                    wanted, after: 0, of: files, reports, asked, use, subject, into: job.staged)
                made.use = use
                return made
            }
        }
    }

    /// Links the renditions that another version has, whose render is reused.
    ///
    /// - Parameter donor: `asset@version`; nil: none.
    func linkRenditions(
        _ wanted: WantedRenditions, of subject: RenditionSubject, from donor: String?, _ job: Job
    ) async throws(Failure) -> SizeList {
        guard !wanted.isEmpty, let donor, let at = donor.lastIndex(of: "@"),
            let version = VersionName(String(donor[donor.index(after: at)...]))
        else { return SizeList() }
        let keys = Dictionary(
            uniqueKeysWithValues: wanted.all.map { ($0.name, subject.key(of: $0.rendition).hex) })
        do throws(Failure) {
            return try await library.link(
                sizesOf: version, AssetPath(String(donor[..<at])), into: job.staged
            ) { name, rendition in keys[name] == rendition.key }
        } catch  where [.damagedVersion, .laterFormat, .ioFailure].contains(error.code) {
            // The other asset's list cannot be read. All are made anew.
            return SizeList()
        }
    }
}

extension RenderUse {
    /// Returns the use with the libraries that drew the texts of an output.
    fileprivate func drawing(_ texts: [PlacedText]) -> RenderUse {
        texts.reduce(self) { use, text in
            RenderUse(libraries: text.coverage.libraries?.byName ?? [:]).after(use)
        }
    }
}

extension RenditionResult {
    /// Whether it has the planned size, or a smaller one if the rendition may shrink to fit into its bytes.
    fileprivate func isOf(_ planned: PixelSize, _ rendition: Rendition) -> Bool {
        rendition.target?.onMiss == .shrink
            ? width <= planned.width && height <= planned.height
            : width == planned.width && height == planned.height
    }
}

/// The reports of a child about the renditions of a request, by the index of their outputs.
final class RenditionReports: Sendable {
    enum Report: Sendable {
        case made(RenditionResult)
        case missed(Failure)
    }

    private let reports = Mutex<[Int: Report]>([:])

    subscript(index: Int) -> Report? { reports.withLock { $0[index] } }

    @Sendable func note(_ progress: RenderReply.Progress) {
        switch progress {
        case .made(let index, let result): reports.withLock { $0[index] = .made(result) }
        case .missed(let index, let failure): reports.withLock { $0[index] = .missed(failure) }
        case .written, .frames, .droppedMotionVideo: break
        }
    }
}

/// Renditions of a version that is there.
extension AssetEditor {
    /// Adds renditions to a version. Nobody commits them, so this is the last moment at which the job can be cancelled: from here on the
    /// library may have them, and the job ends as one that made them.
    private func add(
        _ renditions: [String: StoredRendition], to name: VersionName, of asset: AssetPath,
        _ job: Job
    ) async throws -> SizeList {
        try Task.checkCancellation()
        let library = library
        let staged = job.staged
        return try await inSpan("add renditions") { _ in
            try await toItsEnd {
                try await library.add(renditions, to: name, of: asset, from: staged)
            }
        }
    }

    /// Makes the renditions that a version does not have yet, and adds them to it.
    ///
    /// They are made like those of the job that made the version, from its input and the recorded recipe, so they have
    /// the same bytes. Only of an import with a render, that render is the input. There is no version and no commit: the
    /// library has them before the job ends, and a job that is repeated finds them.
    func makeRenditions(
        of version: Provenance, _ edit: Edit, _ open: OpenAsset, reason: String?, _ job: Job
    ) async throws -> Outcome {
        guard let name = VersionName(version.version) else {
            throw Failure(.damagedVersion, "\(version.version) is no name of a version.")
        }
        let source = try await renditionSource(of: version, open.asset, job)
        let there = try await library.replaceableSizes(of: name, open.asset)
        let lost =
            edit.remakes
            ? try await lost(of: there, besides: edit.renditions, name, open.asset) : [:]
        try await begin(job.staged)
        var (made, keys) = (MadeRenditions(), lost.mapValues(\.key))
        if !edit.renditions.isEmpty {
            let asked = WantedRenditions(edit.renditions)
            made = try await make(asked, of: source, job) { values, render, subject in
                // What is written into the render is recorded as it was written.
                var values = values
                values.texts = values.texts.replaced(by: render.metadata)
                let wanted = try asked.filled(by: values, beside: render)
                let found = try await present(wanted, there, name, open.asset, subject)
                for one in wanted.all { keys[one.name] = subject.key(of: one.rendition).hex }
                return wanted.besides(MadeRenditions(found))
            } filling: {
                placeholderValues(edit, open.asset, job)
            }
        }
        let remade = try await remake(lost, of: source, job)
        for (name, rendition) in remade.list.renditions { keys[name] = rendition.key }
        // Those that an earlier run of this job has made, of which nobody was told.
        for (name, rendition) in there.renditions
        where edit.remakes && rendition.job == job.author.job && keys[name] == nil {
            keys[name] = rendition.key
        }
        made.list.renditions.merge(remade.list.renditions) { asked, _ in asked }
        made.use = remade.use.after(made.use)
        try await checkStamp(of: source)
        var result = made
        result.list =
            made.list.isEmpty
            ? there : try await add(made.list.renditions, to: name, of: open.asset, job)
        if made.list.isEmpty, let reason, made.failures.isEmpty {
            return .unchanged(reason: reason, current: open.state.current)
        }
        for (name, rendition) in result.list.renditions where keys[name] != rendition.key {
            result.list.renditions[name] = nil
            guard keys[name] != nil, result.failures[name] == nil else { continue }
            result.failures[name] = .overtaken(name, by: rendition)
        }
        if result.list.renditions.isEmpty, result.failures.isEmpty {
            return .unchanged(
                reason: "no rendition of \(version.version) is gone", current: open.state.current)
        }
        return .rendered(version, result, reason: reason)
    }

    /// Makes renditions again whose files are gone, each from what was recorded of it: with the same bytes, unless another engine
    /// made them.
    ///
    /// - Parameter lost: their records, by name.
    /// - Throws: the failure of one that cannot be made.
    func remake(
        _ lost: [String: StoredRendition], of source: RenditionSource, _ job: Job
    ) async throws -> MadeRenditions {
        var made = MadeRenditions()
        var rest = try WantedRenditions(recorded: lost).all[...]
        while !rest.isEmpty {
            // As many at once as a job can ask for, for which memory is planned.
            let some = WantedRenditions(Array(rest.prefix(ContractLimits.renditionsMax)))
            rest = rest.dropFirst(ContractLimits.renditionsMax)
            let next = try await make(some, of: source, job) { _, _, _ in some }
            made.list.renditions.merge(next.list.renditions) { _, new in new }
            made.use = next.use.after(made.use)
        }
        return made
    }

    /// Returns the records of renditions that a version had, or is said to have, and that have no whole file.
    private func lost(
        of list: SizeList, besides asked: Renditions, _ version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> [String: StoredRendition] {
        var lost = list.gone
        for (name, rendition) in list.renditions {
            guard try await !library.isWhole(rendition, of: version, asset) else { continue }
            lost[name] = rendition
        }
        return lost.filter { asked.byName[$0.key] == nil }
    }

    /// Makes renditions from the input of a version.
    ///
    /// - Parameters:
    ///   - asked: as they were asked for.
    ///   - choose: returns those to make, with what is to be drawn and written, and without those that are there.
    ///   - filling: the values of placeholders that the photo does not have.
    private func make(
        _ asked: WantedRenditions, of source: RenditionSource, _ job: Job,
        _ choose:
            (PlaceholderValues, Recipe.Output, RenditionSubject) async throws ->
            WantedRenditions,
        filling values: () -> PlaceholderValues = { PlaceholderValues() }
    ) async throws -> MadeRenditions {
        let input = source.input
        return try await inSlot(job) {
            try await pool.planning { memoryMax in
                let request = PhotoRequest(
                    recipe: input.recipe, limits: limits, outputs: asked.outputs,
                    memoryMax: memoryMax, threads: pool.slots.share)
                let files = try await offPool { () throws(Failure) in
                    try self.files(
                        source.file, for: input.recipe, renditions: asked.all.map(\.rendition),
                        of: job.borrower.owner)
                }
                let inspection = try await pool.inspect(request, files, for: job.borrower)
                let values = try await pool.completed(
                    values(), for: request, files, for: job.borrower)
                let subject = try RenditionSubject(
                    inspection, source.sha256, sourceBytes: source.file.length(),
                    owner: ownerOfRender(job), job.author)
                return try await makeRenditions(
                    choose(values, input.recipe.output, subject), request, files,
                    as: inspection, of: subject, job)
            }
        }
    }

    /// Opens the file from which renditions of a version are made, and compares it with its record.
    ///
    /// - Throws: `damagedVersion` if it is another one.
    func renditionSource(
        of version: Provenance, _ asset: AssetPath, _ job: Job
    ) async throws -> RenditionSource {
        let input = try RenditionInput(version, asset)
        let file = try await self.file(of: input, for: job.borrower)
        let (stamp, sha256) = try await offPool { () throws(Failure) in
            (try file.stamp(getsLinks: input.isLayer), try FileDigest.hex(of: file))
        }
        if let recorded = input.sha256, recorded != sha256 {
            throw Failure(
                .damagedVersion,
                "\(file.name) is not the photo that was edited: its SHA-256 is \(sha256), expected \(recorded). Restore it, "
                    + "or revert the asset and edit it again.")
        }
        return RenditionSource(input: input, file: file, stamp: stamp, sha256: sha256)
    }

    private func file(
        of input: RenditionInput, for borrower: Borrower
    ) async throws(Failure) -> OpenFile {
        guard case .original(let asset) = input.file else {
            return try await library.open(input.file)
        }
        return try await openPhoto(asset, for: borrower)
    }

    /// Inspects the renditions of a version that is there, those that it has among them.
    func inspectRenditions(
        _ edit: Edit, of version: Provenance, _ asset: AssetPath, for borrower: Borrower
    ) async throws -> Inspection {
        let input = try RenditionInput(version, asset)
        let outputs = WantedRenditions(edit.renditions).outputs
        return try await rehearse(
            edit, asset, file(of: input, for: borrower),
            PhotoRequest(recipe: input.recipe, limits: limits, outputs: outputs), for: borrower)
    }

    /// Checks that renditions are of the bytes that were digested.
    func checkStamp(of source: RenditionSource) async throws(Failure) {
        let now = try await offPool { () throws(Failure) in
            try source.file.stamp(getsLinks: source.input.isLayer)
        }
        guard now == source.stamp else { throw Self.changed(source.file) }
    }

    /// Returns those of the wanted renditions that a version has, with whole files.
    private func present(
        _ wanted: WantedRenditions, _ list: SizeList, _ version: VersionName, _ asset: AssetPath,
        _ subject: RenditionSubject
    ) async throws(Failure) -> SizeList {
        var present = SizeList()
        for one in wanted.all {
            guard let there = list.renditions[one.name],
                there.key == subject.key(of: one.rendition).hex,
                try await library.isWhole(there, of: version, asset)
            else { continue }
            present.renditions[one.name] = there
        }
        return present
    }

    /// Returns the version that the mode `renditions` names, or the current one.
    ///
    /// - Throws: `missingVersion`.
    func version(
        forRenditions name: String?, _ open: OpenAsset
    ) async throws(Failure) -> Provenance {
        if let name {
            if let draft = open.state.draft, draft.version == name { return draft }
            if let found = try await version(name, of: open.asset) { return found }
        } else if let current = open.state.current {
            return current
        }
        try await checkPhoto(of: open)
        throw Failure(
            .missingVersion,
            "the asset \(open.asset.string.debugDescription) has no "
                + (name.map { "version \($0) any more, or never had" }
                    ?? "version: nobody has edited it. Send an edit with filters: [] and the renditions, which makes one")
                + ".")
    }
}

/// The open file from which renditions of a version are made.
struct RenditionSource: Sendable {
    let input: RenditionInput
    let file: OpenFile
    /// The stamp of the file when it was digested.
    let stamp: FileStamp
    let sha256: String
}

/// The file and the recipe of which renditions of a version are made.
struct RenditionInput: Sendable {
    let file: StoredFile
    let recipe: Recipe
    /// The recorded SHA-256 of the file; nil if nothing is recorded.
    let sha256: String?

    var isLayer: Bool { if case .layer = file { true } else { false } }

    init(_ version: Provenance, _ asset: AssetPath) throws(Failure) {
        guard let content = version.content else {
            (file, recipe, sha256) = (.original(asset), try Recipe(filters: []), nil)
            return
        }
        guard content.rendering != nil, let recorded = content.recipe else {
            // Another editor rendered it.
            file = try StoredFile(content.render.name, of: version, asset)
            (recipe, sha256) = (try Recipe(filters: []), content.render.sha256)
            return
        }
        file =
            if let base = content.base { try StoredFile(base.name, of: version, asset) } else {
                .original(asset)
            }
        (recipe, sha256) = (recorded, content.input.sha256)
    }
}
