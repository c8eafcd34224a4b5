import Editors
import Edits
import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol
import SystemPackage
import Telemetry

extension AssetEditor {
    /// Reads the files that an import names. Reading the adjustment data needs the photo's header.
    func read(
        _ source: Edit.Import, _ asset: AssetPath, _ borrower: Borrower
    ) async throws -> ImportedEdit {
        let original = try await openPhoto(asset, for: borrower)
        let header = try await header(of: original, borrower)
        let (adjustment, hasBase) = try await data(source.adjustment)
        var render: ImportedEdit.Render?
        if let path = source.render {
            let file = try await openPhoto(path, for: borrower)
            render = try await offPool { () throws(Failure) in
                ImportedEdit.Render(path: path, sha256: try FileDigest.hex(of: file))
            }
        }
        return ImportedEdit(
            adjustment: adjustment, hasBase: hasBase,
            answer: editors.open(adjustment, of: header.photo), render: render)
    }

    /// Makes the version of an import that includes a render, from the render's bytes, with previews.
    func adopt(
        _ adoption: EditPlan.Adoption, _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Outcome {
        let original = try await openPhoto(open.asset, for: job.borrower)
        let render = try await openPhoto(adoption.render, for: job.borrower)
        try await begin(job.staged)
        let header = try await header(of: original, job.borrower)
        let rendered = try await self.header(of: render, job.borrower)
        guard (rendered.movie == nil) == (header.movie == nil) else {
            throw Failure(
                .invalidValue,
                "edit.render is \(adoption.render.string.debugDescription), a \(rendered.kind), and "
                    + "\(open.asset.string.debugDescription) is a \(header.kind); expected is what the edit's editor made of it."
            )
        }
        let name =
            open.asset.stem + "."
            + (FilePath(adoption.render.string).extension ?? rendered.format.rawValue)
        // Previews and digest are made from the copy, because the imported file may change.
        let (copy, image) = try await offPool { () throws(Failure) in
            let digest = try library.staging.copy(
                render, as: name, into: job.staged, bytesMax: limits.bytesMax)
            let copy = try OpenFile(
                reading: library.staging.folder(of: job.staged).appending(name).string)
            return (
                copy,
                rendered.image(name, digest)
            )
        }
        let (tiny, previews, sizes) = try await inSlot(job) {
            try await smallPictures(
                of: copy, image, edit.output?.previews ?? [],
                WantedRenditions(edit.renditions), placeholderValues(edit, open.asset, job), job)
        }
        let movie = try await adoptedMovie(
            beside: adoption.render, of: rendered, header, open.asset, job)
        let content = try await offPool { () throws(Failure) in
            let adjustment = try library.staging.write(
                AAESidecar(
                    adoption.adjustment, on: adoption.hasBase ? .adjusted : .original,
                    timestamp: job.author.date ?? .now),
                as: open.asset.stem + ".AAE", into: job.staged)
            return Content(
                source: header.input(try FileDigest.hex(of: original)),
                base: nil, adjustment: adjustment,
                opened: nil, recipe: adoption.recipe, editDigest: edit.changeDigest, rendering: nil,
                render: image, pairedVideo: movie, previews: previews,
                placeholder: tiny)
        }
        let (version, sealed) = try await seal(
            edit, open, job, content: content, sizes, timeline: nil)
        return .made(version, sealed)
    }

    /// Copies, byte for byte, the movie that another editor rendered with the still of a Live Photo.
    ///
    /// - Parameters:
    ///   - render: the render of the still.
    ///   - original: the header of the asset.
    /// - Returns: nil if the asset is no Live Photo, or the editor rendered only its still.
    /// - Throws: `pairMismatch` if the file beside the still is no movie paired with it.
    private func adoptedMovie(
        beside render: AssetPath, of rendered: PhotoHeader, _ original: PhotoHeader,
        _ asset: AssetPath, _ job: Job
    ) async throws -> Content.Image? {
        guard original.contentIdentifier != nil, original.movie == nil,
            let identifier = rendered.contentIdentifier
        else { return nil }
        let videos = try await library.pairedVideos(of: render)
        guard let video = videos.first else { return nil }
        guard let half = videos.first(where: { $0.contentIdentifier == identifier }) else {
            throw Failure(
                .pairMismatch,
                "\(render.string.debugDescription) is the still of a Live Photo marked \(identifier), and "
                    + "\(video.path.string.debugDescription) beside it is not its movie. Put the right movie beside it, or move "
                    + "this one away.")
        }
        let file = try await openPhoto(half.path, for: job.borrower)
        let header = try await self.header(of: file, job.borrower)
        let name = asset.stem + "." + (FilePath(half.path.string).extension ?? "MOV")
        return try await offPool { () throws(Failure) in
            let digest = try library.staging.copy(
                file, as: name, into: job.staged, bytesMax: limits.bytesMax)
            return header.image(name, digest)
        }
    }

    private func data(
        _ source: Edit.Import.Adjustment
    ) async throws(Failure) -> (AdjustmentData, hasBase: Bool) {
        switch source {
        case .inline(let data): return (data, false)
        case .sidecar(let path):
            let sidecar = try await library.sidecar(at: path)
            return (sidecar.adjustment, sidecar.base == .adjusted)
        }
    }

    private func header(of photo: OpenFile, _ borrower: Borrower) async throws -> PhotoHeader {
        try await pool.slots.use {
            try await pool.inspect(
                PhotoRequest(recipe: Recipe(filters: []), limits: limits),
                RenderFiles(sources: [photo]), for: borrower
            ).header
        }
    }

    /// Makes the previews and renditions of an imported render, which already contains the edit.
    private func smallPictures(
        of render: OpenFile, _ image: Content.Image, _ sides: [Int], _ asked: WantedRenditions,
        _ values: PlaceholderValues, _ job: Job
    ) async throws -> (String?, [Content.Preview], MadeRenditions) {
        guard !sides.isEmpty || !asked.isEmpty else { return (nil, [], MadeRenditions()) }
        let recipe = try Recipe(filters: [], output: Recipe.Output(previews: sides))
        let small = SmallPictures(recipe.output)
        return try await pool.planning { memoryMax in
            var named = PhotoRequest(
                recipe: recipe, limits: limits, outputs: small.outputs(around: asked.outputs),
                memoryMax: memoryMax)
            let opened = try await offPool { () throws(Failure) in
                try self.files(
                    render, for: recipe, renditions: asked.all.map(\.rendition),
                    of: job.borrower.owner)
            }
            let filled = try asked.filled(
                by: try await pool.completed(values, for: named, opened, for: job.borrower))
            named.outputs = small.outputs(around: filled.outputs)
            let (request, drawn, missed) = try await drawTexts(
                of: named, opened, on: image.size, job)
            let wanted = filled.missing(missed)
            guard !request.outputs.isEmpty else { return (nil, [], wanted.begun) }
            let files = try await offPool { () throws(Failure) in
                try self.files(drawn, for: request, in: job.staged)
            }
            let reports = RenditionReports()
            return try await pool.render(
                request, files, for: job.borrower, reports: reports.note
            ) { inspection, use in
                let tiny = try await offPool { () throws(Failure) in
                    try small.placeholder.map { index throws(Failure) in
                        try Self.placeholder(files.outputs[index])
                    }
                }
                if let tiny { await job.desk.placeholder(tiny) }
                return try await offPool { () throws(Failure) in
                    let made = try accept(
                        wanted, after: small.firstRendition - 1, of: files, reports, request, use,
                        RenditionSubject(
                            sha256: image.sha256, header: inspection.header,
                            filters: Recipe(filters: []), size: image.size,
                            sourceBytes: image.bytes, owner: ownerOfRender(job), job.author),
                        into: job.staged)
                    return (
                        tiny,
                        try acceptPreviews(
                            small, after: wanted.all.count, of: files, into: job.staged), made
                    )
                }
            }
        }
    }
}

extension PhotoHeader {
    fileprivate var kind: String { movie == nil ? "photo" : "movie" }

    fileprivate func image(
        _ name: String, _ digest: (hex: String, bytes: Int)
    ) -> Content.Image {
        Content.Image(
            name: name,
            MadeFile(
                mediaType: movie?.container.mediaType ?? "image/" + format.rawValue,
                size: uprightSize, bytes: digest.bytes, sha256: digest.hex))
    }

    func input(_ sha256: String) -> Content.Input {
        Content.Input(
            sha256: sha256, format: format.rawValue, size: storedSize, orientation: orientation)
    }
}

extension AssetEditor {
    /// Makes a version that shows an older content, or the original, again. No pixel is rendered, unless renditions are made again.
    func restore(
        _ restoration: EditPlan.Restoration, _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Outcome {
        try await begin(job.staged)
        if let from = restoration.from, let content = from.content {
            for name in content.fileNames {
                try await library.link(
                    StoredFile(name, of: from, open.asset), as: name, into: job.staged)
            }
        }
        var sizes = MadeRenditions()
        if let name = restoration.from.flatMap({ VersionName($0.version) }) {
            sizes.list = try await library.link(sizesOf: name, open.asset, into: job.staged)
        }
        if edit.remakes, let from = restoration.from, !sizes.list.gone.isEmpty {
            let source = try await renditionSource(of: from, open.asset, job)
            let remade = try await remake(sizes.list.gone, of: source, job)
            try await checkStamp(of: source)
            sizes.list.renditions.merge(remade.list.renditions) { _, new in new }
            (sizes.list.gone, sizes.use) = ([:], remade.use)
        }
        let (version, sealed) = try await seal(
            edit, open, job, content: restoration.from?.content, sizes,
            timeline: restoration.timeline)
        return .made(version, sealed)
    }

    /// Creates the empty folder of a staged version.
    func begin(_ staged: StagedVersion) async throws(Failure) {
        try await offPool { () throws(Failure) in _ = try library.staging.begin(staged) }
    }

    /// Adds the provenance to the staged files.
    ///
    /// - Parameters:
    ///   - sizes: the staged renditions.
    ///   - timeline: the timeline after a move through history; nil: the version counts as an edit.
    /// - Returns: the version, and the renditions as the library names them.
    func seal(
        _ edit: Edit, _ open: OpenAsset, _ job: Job, content: Content?, _ sizes: MadeRenditions,
        timeline: Timeline?
    ) async throws(Failure) -> (Provenance, MadeRenditions) {
        let parent = open.state.current.flatMap { VersionName($0.version) }
        let told = min(job.told, VersionName.revisionMax - 1)
        let name = VersionName(
            revision: max(parent?.revision ?? 0, told) + 1, fence: job.staged.fence)
        let before = open.state.current?.timeline ?? .start
        let provenance = Provenance(
            version: name, parent: parent, isDraft: edit.isDraft, mode: edit.mode.name,
            draft: edit.mode.name == .publish
                ? open.state.draft.flatMap { VersionName($0.version) } : nil,
            author: job.author, edit: edit.digest,
            history: try await library.publishedJobs(of: open.asset, open.state), told: told,
            timeline: timeline ?? before.edited(by: name), content: content)
        var sealed = sizes
        sealed.list = try await inSpan("seal") { _ throws(Failure) in
            try await library.seal(job.staged, provenance, sizes.list, of: open.asset)
        }
        return (provenance, sealed)
    }
}
