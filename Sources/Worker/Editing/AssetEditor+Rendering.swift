import Edits
import Editors
import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol
import SystemPackage
import Telemetry
import Tracing

extension AssetEditor {
    /// Renders a recipe and makes its version.
    func render(
        _ task: EditPlan.RenderTask, _ edit: Edit, _ open: OpenAsset, _ job: Job,
        placeholder: @escaping @Sendable (String) async -> Void
    ) async throws -> Provenance {
        let base = try newBase(for: task.input, open)
        let source =
            if let base { try await library.open(base.file) } else {
                try await openPhoto(open.asset, for: job.borrower)
            }
        try await begin(job.staged)
        let (made, entry, reusedKey) = try await inSlot(job) {
            try await pool.planning { memoryMax in
                let small = SmallPictures(task.recipe.output)
                let request = PhotoRequest(
                    recipe: task.recipe, limits: limits, outputs: small.outputs(around: [.full]),
                    memoryMax: memoryMax, threads: pool.slots.share)
                return try await photo(
                    request, small, source, isOriginal: base == nil, baseMovie: base?.movie?.file,
                    of: open.asset, job,
                    placeholder)
            }
        }
        if let base {
            try await library.link(base.file, as: base.name, into: job.staged)
            if let movie = base.movie {
                try await library.link(movie.file, as: movie.image.name, into: job.staged)
            }
        }
        let data = try await adjustment(task, made.recipe, open)
        let adjustment = try await offPool { () throws(Failure) in
            try library.staging.write(
                AAESidecar(
                    data, on: base == nil ? .original : .adjusted,
                    timestamp: job.author.date ?? .now),
                as: open.asset.stem + ".AAE", into: job.staged)
        }
        let content = Content(
            source: try base == nil ? made.input : original(open),
            base: base?.layer(made.input), adjustment: adjustment, opened: task.opened,
            recipe: made.recipe, editDigest: edit.json.digest, copiedFrom: task.copiedFrom,
            reusedFrom: made.reusedFrom, rendering: made.rendering, render: made.render,
            pairedVideo: made.pairedVideo,
            previews: made.previews, placeholder: made.placeholder)
        let version = try await seal(edit, open, job, content: content, timeline: nil)
        if let key = made.movieKey { try await library.removeMovieParts(of: key) }
        if let entry, entry.key.hex == made.rendering.key {
            try await entry.offer(version, of: open.asset, in: job.staged)
        } else if let reusedKey {
            try await library.offer(reusedKey, version, of: open.asset, in: job.staged)
        }
        return version
    }

    /// Runs the body in a slot of the worker, and records the job's stages.
    func inSlot<Result>(_ job: Job, _ body: () async throws -> Result) async throws -> Result {
        job.reach(.waiting)
        let result = try await pool.slots.use {
            job.reach(.rendering)
            return try await body()
        }
        job.reach(.publishing)
        return result
    }

    /// Reuses the render of an existing version, or makes the render.
    ///
    /// - Returns: the photo. If this job made the render, also the entry for which other jobs wait; otherwise the
    ///   key of the reused render.
    private func photo(
        _ request: PhotoRequest, _ small: SmallPictures, _ source: OpenFile, isOriginal: Bool,
        baseMovie: StoredFile?, of asset: AssetPath, _ job: Job,
        _ placeholder: @escaping @Sendable (String) async -> Void
    ) async throws -> (RenderedPhoto, (any RenderEntry)?, RenderKey?) {
        let files = try await offPool { () throws(Failure) in
            try self.files(source, for: request.recipe, of: job.borrower.owner)
        }
        let inspection = try await pool.inspect(request, files, for: job.borrower)
        let pair = try await self.pair(inspection, request, of: asset, base: baseMovie, job)
        // The worker computes the digest itself, because it decides which render is reused.
        let (stamp, sha256) = try await offPool { () throws(Failure) -> (FileStamp, String) in
            // A file of a version may get further hard links in the meantime.
            (try source.stamp(getsLinks: !isOriginal), try FileDigest.hex(of: source))
        }
        // Both halves of a Live Photo share one render key.
        let key = try RenderKey(
            request.recipe, inspection.header, sha256 + (pair.map { "+" + $0.sha256 } ?? ""),
            of: ownerOfRender(job))
        // Without a child and its memory: the job that is rendering the same picture may need it.
        let entry = reuseWait == nil ? nil : try await self.entry(key, of: asset, job)
        if let entry, let made = try await entry.reuse(as: asset.stem, into: job.staged) {
            // The lock is not needed for sealing. Other jobs can link the same render meanwhile.
            return (made, nil, entry.key)
        }
        let bytes =
            job.isExclusive
            ? max(inspection.memoryBytes, pool.budgetBytes) : inspection.memoryBytes
        job.reach(.waiting)
        let movie = MovieParts(
            pool: pool, borrower: job.borrower, request: request, files: files,
            inspection: inspection,
            kept: MovieParts.Kept(
                library: library, key: key,
                offer: isOriginal
                    ? (PartTask(asset: asset, recipe: request.recipe, key: key), job.parts) : nil))
        let (withParts, partsUse) = try await movie.rendered(job.progress) {
            () throws(Failure) in try library.staging.scratch(for: job.staged)
        }
        // A still that is only copied keeps its content identifier, and so does the movie.
        let isCopy = inspection.plan.lane == .copy
        let identifier = pair == nil || isCopy ? nil : LivePair.identifier(key.hex)
        var made = try await inSpan("render") { _ in
            try await pool.lend(bytes, to: job.borrower) { child in
                job.reach(.rendering)
                let files = try await offPool { () throws(Failure) in
                    try self.files(withParts, for: request, in: job.staged)
                }
                let video = DroppedVideo()
                let (use, tiny) = try await self.render(
                    request, identifier, small, files, inspection, video, by: child, placeholder)
                // While it is lent: a child whose result is not believed is not used again.
                return try await offPool { () throws(Failure) in
                    try accept(
                        files, use.after(partsUse), small, tiny, video.inspection(inspection),
                        sha256, key, asset, job)
                }
            }
        }
        if let pair {
            let (movie, use) = try await self.rendered(
                pair, key, marked: identifier, of: asset, job)
            made.addMovie(movie, use)
        }
        // The render may not be of the bytes that were digested.
        let stampNow = try await offPool { () throws(Failure) in
            try source.stamp(getsLinks: !isOriginal)
        }
        guard stampNow == stamp else {
            throw Failure(
                .ioFailure,
                "\(source.name) was changed while it was rendered. The job is retried; put originals in their "
                    + "place by a rename, and never change one.")
        }
        return (made, entry, nil)
    }

    /// Renders a photo and its small pictures into the files.
    ///
    /// - Returns: the resources that the render used, and the placeholder.
    private func render(
        _ request: PhotoRequest, _ identifier: String?, _ small: SmallPictures,
        _ files: RenderFiles, _ inspection: Inspection, _ video: DroppedVideo,
        by child: LentChild, _ placeholder: @escaping @Sendable (String) async -> Void
    ) async throws -> (RenderUse, String?) {
        // The recipe as resolved by the inspection, so that automatic values are not computed again.
        let resolved = PhotoRequest(
            recipe: inspection.recipe, limits: request.limits, outputs: request.outputs,
            memoryMax: request.memoryMax, threads: request.threads, contentIdentifier: identifier)
        let (progress, wrote) = AsyncStream.makeStream(of: Int.self)
        async let published = publishPlaceholder(small, files, progress, placeholder)
        do {
            let use = try await child.render(resolved, files, as: inspection) { done in
                video.note(done)
                if case .written(let index) = done { wrote.yield(index) }
            }
            wrote.finish()
            return (use, try await published)
        } catch {
            wrote.finish()
            throw error
        }
    }

    /// Publishes the placeholder as soon as the child has written it.
    private func publishPlaceholder(
        _ small: SmallPictures, _ files: RenderFiles, _ progress: AsyncStream<Int>,
        _ placeholder: @Sendable (String) async -> Void
    ) async throws(Failure) -> String? {
        var tiny: String?
        for await index in progress where index == small.placeholder && tiny == nil {
            let text = try await offPool { () throws(Failure) in
                try Self.placeholder(files.outputs[index])
            }
            await placeholder(text)
            tiny = text
        }
        guard small.placeholder == nil || tiny != nil else {
            throw RenderedResult.refusal("came without the placeholder that was asked for")
        }
        return tiny
    }

    /// Accepts the results into the staged version.
    private func accept(
        _ files: RenderFiles, _ use: RenderUse, _ small: SmallPictures, _ tiny: String?,
        _ inspection: Inspection, _ sha256: String, _ key: RenderKey, _ asset: AssetPath, _ job: Job
    ) throws(Failure) -> RenderedPhoto {
        let plan = inspection.plan
        let format = plan.output.format
        let full = small.placeholder == nil ? 0 : 1
        let sourceBytes = try files.sources[0].length()
        let result = files.outputs[full]
        let name = asset.stem + "." + format.fileExtension
        let image = try accept(
            result, as: name,
            RenderedResult(
                format: format,
                size: plan.lane == .copy
                    ? .copy(sha256: sha256, plan.resultSize) : .exactly(plan.resultSize),
                limits: limits),
            sourceBytes: sourceBytes, into: job.staged)
        return RenderedPhoto(
            input: Content.Input(
                sha256: sha256, format: inspection.header.format.rawValue,
                size: inspection.header.storedSize, orientation: inspection.header.orientation),
            recipe: inspection.recipe,
            rendering: Content.Rendering(
                engine: Engine.name, key: key.hex, at: job.author.at, plan: inspection.planLines,
                wallMilliseconds: use.wallMilliseconds, cpuMilliseconds: use.cpuMilliseconds,
                peakMemoryBytes: use.peakMemoryBytes, gainMap: plan.gainMap,
                motionVideo: plan.motionVideo, leftOut: plan.leftOut),
            render: image,
            previews: try acceptPreviews(small, after: 1, of: files, into: job.staged),
            placeholder: tiny)
    }

    /// The base layer of the new version. Its digest is known after it was read.
    private struct Base: Sendable {
        /// The current version's render, or its own base.
        let file: StoredFile
        /// Its name in the new version.
        let name: String
        /// The version whose render it is.
        let version: String
        /// The movie of a Live Photo beside the base, and its description in the new version.
        let movie: (file: StoredFile, image: Content.Image)?

        func layer(_ input: Content.Input) -> Content.Layer {
            Content.Layer(
                name: name, version: version, input: input, pairedVideo: movie?.image)
        }
    }

    private func newBase(
        for input: EditingInput, _ open: OpenAsset
    ) throws(Failure) -> Base? {
        guard input != .original, let current = open.state.current, let content = current.content
        else { return nil }
        let layer = input == .base ? content.base : nil
        let file = FilePath(layer?.name ?? content.render.name)
        let video = layer == nil ? content.pairedVideo : layer?.pairedVideo
        let movie = try video.map { video throws(Failure) in
            let name = FilePath(video.name).lastComponent?.string ?? video.name
            return (
                file: try StoredFile(video.name, of: current, open.asset),
                image: Content.Image(
                    name: Content.baseFolder + "/" + name, mediaType: video.mediaType,
                    size: video.size, bytes: video.bytes, sha256: video.sha256)
            )
        }
        return Base(
            file: try StoredFile(file.string, of: current, open.asset),
            name: Content.baseFolder + "/" + (file.lastComponent?.string ?? file.string),
            version: layer?.version ?? current.version, movie: movie)
    }

    /// Returns the recorded facts about the original, because a version on a base does not read the original.
    private func original(_ open: OpenAsset) throws(Failure) -> Content.Input {
        guard let content = open.content else {
            throw Failure(.internalError, "\(open.asset) has a base and no content.")
        }
        return content.source
    }

    private func adjustment(
        _ task: EditPlan.RenderTask, _ recipe: Recipe, _ open: OpenAsset
    ) async throws(Failure) -> AdjustmentData {
        if let adjustment = task.adjustment { return adjustment }
        if task.keepsAdjustment, let current = open.state.current, let content = current.content {
            return try await library.sidecar(of: content, in: current, open.asset).adjustment
        }
        return AdjustmentData(recipe)
    }
}
