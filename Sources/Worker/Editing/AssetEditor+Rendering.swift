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
        _ task: EditPlan.RenderTask, _ edit: Edit, _ open: OpenAsset, _ job: Job
    ) async throws -> Outcome {
        let base = try newBase(for: task.input, open)
        let source =
            if let base { try await library.open(base.file) } else {
                try await openPhoto(open.asset, for: job.borrower)
            }
        try await begin(job.staged)
        let wanted = WantedRenditions(edit.renditions)
        let (made, sizes, offer) = try await inSlot(job) {
            try await pool.planning { memoryMax in
                try await photo(
                    source, base, of: open.asset, job,
                    PhotoRequest(
                        recipe: task.recipe, limits: limits, pictures: task.pictures,
                        outputs: SmallPictures(task.recipe.output).outputs(
                            around: [.full] + wanted.outputs),
                        memoryMax: memoryMax, threads: pool.slots.share), wanted,
                    placeholderValues(edit, open.asset, job))
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
            recipe: made.recipe, editDigest: edit.changeDigest,
            sent: try (task.sent ?? task.recipe).kept(
                for: made.input.photo.uprightSize, pictures: task.pictures),
            copiedFrom: task.copiedFrom,
            reusedFrom: made.reusedFrom, rendering: made.rendering, render: made.render,
            pairedVideo: made.pairedVideo,
            previews: made.previews, placeholder: made.placeholder)
        let (version, sealed) = try await seal(
            edit, open, job, content: content, sizes, timeline: nil)
        if let key = made.movieKey { try await library.removeMovieParts(of: key) }
        switch offer {
        case .made(let entry) where entry.key.hex == made.rendering.key:
            try await entry.offer(version, of: open.asset, in: job.staged)
        case .reused(let key):
            try await library.offer(key, version, of: open.asset, in: job.staged)
        case .made, nil: break
        }
        return .made(version, sealed)
    }

    /// How the render of a version is offered to other jobs.
    private enum Offer {
        /// This job made it, and others wait for its entry.
        case made(any RenderEntry)
        /// It is another version's, under this key.
        case reused(RenderKey)
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
    private func photo(
        _ source: OpenFile, _ base: Base?, of asset: AssetPath, _ job: Job,
        _ request: PhotoRequest, _ asked: WantedRenditions, _ values: PlaceholderValues
    ) async throws -> (RenderedPhoto, MadeRenditions, Offer?) {
        var subject = try await look(at: source, base, of: asset, job, request, values)
        var wanted = try asked.filled(
            by: subject.values, beside: subject.request.recipe.output)
        // Without a child and its memory: the job that is rendering the same picture may need it.
        let entry = try await entry(subject.key, of: asset, job)
        if let entry, let made = try await entry.reuse(as: asset.stem, into: job.staged) {
            // The lock is not needed for sealing. Other jobs can link the same render meanwhile.
            let sizes = try await renditions(wanted, of: subject, from: made.reusedFrom, job)
            return (made, sizes, .reused(entry.key))
        }
        job.reach(.waiting)
        let texts = try await drawTexts(
            of: wanted.replacing(in: subject.request), subject.files,
            on: subject.inspection.plan.resultSize, job)
        (subject.request, subject.files) = (texts.0, texts.1)
        wanted = wanted.missing(texts.missed)
        let (drawn, asked) = (subject, wanted)
        let parts = try await movieParts(of: drawn, asset, job).rendered(job.progress) {
            () throws(Failure) in try library.staging.scratch(for: job.staged)
        }
        let estimate = drawn.inspection.memoryBytes
        let bytes = job.isExclusive ? max(estimate, pool.budgetBytes) : estimate
        let (photo, sizes) = try await inSpan("render") { _ in
            try await pool.lend(bytes, to: job.borrower) { child in
                job.reach(.rendering)
                return try await render(drawn, parts, asked, as: asset.stem, job, by: child)
            }
        }
        var made = photo
        if let pair = subject.pair {
            let (movie, use) = try await rendered(
                pair, subject.key, marked: subject.identifier, of: asset, job)
            made.addMovie(movie, use)
        }
        try await subject.checkStamp()
        return (made, sizes, entry.map { .made($0) })
    }

    /// Makes the renditions of a photo whose render is reused, as far as its version has none of the same keys.
    private func renditions(
        _ wanted: WantedRenditions, of subject: Subject, from donor: String?, _ job: Job
    ) async throws -> MadeRenditions {
        guard !wanted.isEmpty else { return wanted.begun }
        let photo = try subject.forRenditions(ownerOfRender(job), job.author)
        let linked = try await linkRenditions(wanted, of: photo, from: donor, job)
        var made = try await makeRenditions(
            wanted.besides(MadeRenditions(linked)), subject.request, subject.files,
            as: subject.inspection, of: photo, job)
        made.list.renditions.merge(linked.renditions) { own, _ in own }
        try await subject.checkStamp()
        return made
    }

    /// A photo that is to be rendered, and what is known of it.
    private struct Subject: Sendable {
        /// The original, or the render of a version.
        let source: OpenFile
        let isOriginal: Bool
        var request: PhotoRequest
        var files: RenderFiles
        let inspection: Inspection
        /// The values of placeholders, with what is written into the metadata.
        let values: PlaceholderValues
        /// The other half of a Live Photo.
        let pair: LivePair?
        /// The source's stamp when it was digested.
        let stamp: FileStamp
        let sha256: String
        /// Of both halves of a Live Photo.
        let key: RenderKey
        /// The new content identifier of both halves. A still that is only copied keeps its own, and so does the movie.
        let identifier: String?

        /// Checks that the render is of the bytes that were digested.
        func checkStamp() async throws(Failure) {
            let now = try await offPool { () throws(Failure) in
                try source.stamp(getsLinks: !isOriginal)
            }
            guard now == stamp else { throw AssetEditor.changed(source) }
        }

        /// Returns what determines the renditions of the still.
        func forRenditions(
            _ owner: Owner, _ author: Provenance.Author
        ) throws(Failure) -> RenditionSubject {
            try RenditionSubject(
                inspection, sha256, sourceBytes: source.length(), owner: owner, author)
        }
    }

    /// The failure if a photo is not that of its digest any more.
    static func changed(_ source: OpenFile) -> Failure {
        Failure(
            .ioFailure,
            "\(source.name) was changed while it was rendered. The job is retried; put originals in their "
                + "place by a rename, and never change one.")
    }

    /// Inspects a photo, finds its other half, and determines the key of its render.
    private func look(
        at source: OpenFile, _ base: Base?, of asset: AssetPath, _ job: Job,
        _ request: PhotoRequest, _ values: PlaceholderValues
    ) async throws -> Subject {
        let files = try await offPool { () throws(Failure) in
            try self.files(
                source, for: request.recipe,
                renditions: request.outputs.compactMap(\.rendition), of: job.borrower.owner)
        }
        var (request, values) = (
            request,
            try await pool.completed(values, for: request, files, for: job.borrower)
        )
        try request.fill(by: &values, at: job.author.arrival)
        let inspection = try await pool.inspect(request, files, for: job.borrower)
        let pair = try await pair(inspection, request, of: asset, base: base?.movie?.file, job)
        // The worker computes the digest itself, because it decides which render is reused.
        let (stamp, sha256) = try await offPool { () throws(Failure) -> (FileStamp, String) in
            // A file of a version may get further hard links in the meantime.
            (try source.stamp(getsLinks: base != nil), try FileDigest.hex(of: source))
        }
        let photo = sha256 + (pair.map { "+" + $0.sha256 } ?? "")
        let recipe = try request.recipe.resolved(
            for: inspection.header.uprightSize, pictures: request.pictures)
        let keepsIdentifier = pair == nil || inspection.plan.lane.keepsFile
        return Subject(
            source: source, isOriginal: base == nil, request: request, files: files,
            inspection: inspection, values: values, pair: pair, stamp: stamp, sha256: sha256,
            key: RenderKey(
                photo: photo, recipe: recipe, render: Engine.render, owner: ownerOfRender(job)),
            identifier: keepsIdentifier
                ? nil
                : LivePair.identifier(photo: photo, recipe: recipe, owner: ownerOfRender(job)))
    }

    /// The parts of a movie, which other workers may render if it is an original.
    private func movieParts(of subject: Subject, _ asset: AssetPath, _ job: Job) -> MovieParts {
        let task = PartTask(asset: asset, recipe: subject.request.recipe, key: subject.key)
        return MovieParts(
            pool: pool, borrower: job.borrower, request: subject.request, files: subject.files,
            inspection: subject.inspection,
            kept: MovieParts.Kept(
                library: library, key: subject.key,
                offer: subject.isOriginal ? (task, job.desk) : nil))
    }

    /// Renders a photo and its small pictures, and accepts them into the staged version while the child is lent: one whose
    /// result is not believed is not used again.
    ///
    /// - Parameter parts: the files, including the parts of a movie, and the resources that these used.
    private func render(
        _ subject: Subject, _ parts: (files: RenderFiles, use: RenderUse),
        _ wanted: WantedRenditions, as stem: String, _ job: Job, by child: LentChild
    ) async throws -> (RenderedPhoto, MadeRenditions) {
        let (request, small) = (subject.request, SmallPictures(subject.request.recipe.output))
        let files = try await offPool { () throws(Failure) in
            try self.files(parts.files, for: request, in: job.staged)
        }
        // The recipe as resolved by the inspection, so that automatic values are not computed again.
        var resolved = request
        resolved.recipe = subject.inspection.recipe
        resolved.contentIdentifier = subject.identifier
        let asked = resolved
        let (video, reports) = (DroppedVideo(), RenditionReports())
        let (progress, wrote) = AsyncStream.makeStream(of: Int.self)
        defer { wrote.finish() }
        async let published = publishPlaceholder(small, files, progress, job)
        let use = try await child.render(asked, files, as: subject.inspection) { done in
            video.note(done)
            reports.note(done)
            if let index = done.output { wrote.yield(index) }
        }
        wrote.finish()
        let tiny = try await published
        let inspection = video.inspection(subject.inspection)
        return try await offPool { () throws(Failure) in
            let made = try accept(
                files, use.after(parts.use), small, wanted, tiny, inspection, subject, as: stem,
                job)
            let sizes = try accept(
                wanted, after: small.firstRendition, of: files, reports, asked, use,
                subject.forRenditions(ownerOfRender(job), job.author), into: job.staged)
            return (made, sizes)
        }
    }

    /// Publishes the placeholder as soon as the child has written it.
    private func publishPlaceholder(
        _ small: SmallPictures, _ files: RenderFiles, _ progress: AsyncStream<Int>, _ job: Job
    ) async throws(Failure) -> String? {
        var tiny: String?
        for await index in progress where index == small.placeholder && tiny == nil {
            let text = try await offPool { () throws(Failure) in
                try Self.placeholder(files.outputs[index])
            }
            await job.desk.placeholder(text)
            tiny = text
        }
        guard small.placeholder == nil || tiny != nil else {
            throw RenderedResult.refusal("came without the placeholder that was asked for")
        }
        return tiny
    }

    /// Accepts the results into the staged version.
    private func accept(
        _ files: RenderFiles, _ use: RenderUse, _ small: SmallPictures,
        _ wanted: WantedRenditions, _ tiny: String?, _ inspection: Inspection, _ subject: Subject,
        as stem: String, _ job: Job
    ) throws(Failure) -> RenderedPhoto {
        let plan = inspection.plan
        let format = plan.output.format
        let image = try accept(
            files.outputs[small.firstRendition - 1],
            as: stem + "." + format.fileExtension,
            RenderedResult(
                format: format,
                size: plan.lane == .copy
                    ? .copy(sha256: subject.sha256, plan.resultSize) : .exactly(plan.resultSize),
                limits: limits),
            sourceBytes: try files.sources[0].length(), into: job.staged)
        return RenderedPhoto(
            input: inspection.header.input(subject.sha256), recipe: inspection.recipe,
            rendering: Content.Rendering(
                by: .here(
                    use.versions(
                        of: UsedLibraries.names(plan, of: inspection.header, inspection.recipe))),
                key: subject.key.hex, contentIdentifier: subject.identifier, at: job.author.at,
                plan: inspection.planLines, wallMilliseconds: use.wallMilliseconds,
                cpuMilliseconds: use.cpuMilliseconds, peakMemoryBytes: use.peakMemoryBytes,
                plan.companions),
            render: image,
            previews: try acceptPreviews(
                small, after: 1 + wanted.all.count, of: files, into: job.staged),
            placeholder: tiny)
    }

    /// The base layer of the new version. Its digest is known after it was read.
    private struct Base: Sendable {
        /// The current version's render, or its own base.
        let file: StoredFile
        let name: String
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
                image: Content.Image(name: Content.baseFolder + "/" + name, video.file)
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

extension RenderedPhoto {
    /// The key under which parts of its movie were stored; nil for a photo.
    var movieKey: RenderKey? {
        let isMovie = pairedVideo != nil || render.mediaType.hasPrefix("video/")
        return isMovie ? rendering.key.flatMap(RenderKey.init(recorded:)) : nil
    }

    /// Adds a movie, as a Live Photo.
    ///
    /// - Parameter use: the resources that the movie's render used.
    mutating func addMovie(_ movie: Content.Image, _ use: RenderUse) {
        rendering.add(
            wallMilliseconds: use.wallMilliseconds, cpuMilliseconds: use.cpuMilliseconds,
            peakMemoryBytes: use.peakMemoryBytes)
        pairedVideo = movie
    }
}

/// Reuse of renders that a version of the library already has.
extension AssetEditor {
    /// The shortest and the longest pause between two checks whether the other job is done.
    private static let pauses = (
        shortest: Duration.milliseconds(5), longest: Duration.milliseconds(100)
    )

    /// Returns the library's entry for a render, locked. Waits while another job renders the same picture.
    ///
    /// - Returns: nil if renders are not reused, if the other job takes longer than the limit of one render, or if
    ///   the entry is locked by this same job on a worker that is stuck.
    func entry(
        _ key: RenderKey, of asset: AssetPath, _ job: Job
    ) async throws -> (any RenderEntry)? {
        guard let reuseWait else { return nil }
        let end = ContinuousClock.now + reuseWait
        var pause = Self.pauses.shortest
        while true {
            switch try await library.claim(key, of: asset, for: job.staged) {
            case .claimed(let entry): return entry
            case .lost: return nil
            case .busy:
                guard ContinuousClock.now < end else { return nil }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, Self.pauses.longest)
            }
        }
    }

    /// Returns the owner of a job's render: the job's, or the operator if all tenants share their renders.
    func ownerOfRender(_ job: Job) -> Owner {
        sharesAmongTenants ? .operator : job.borrower.owner
    }
}

extension RenderOrigin {
    /// The origin of what this program's children make.
    static func here(_ libraries: [String: String]) -> RenderOrigin {
        RenderOrigin(engine: Engine.name, render: Engine.render, libraries: libraries)
    }
}

extension RenderKey {
    /// Creates the key of a request's render of a photo.
    ///
    /// - Parameters:
    ///   - digest: the SHA-256 of the photo, in hex.
    ///   - owner: the owner of the render, for whose jobs alone it is reused.
    init(
        _ request: PhotoRequest, _ header: PhotoHeader, _ digest: String, of owner: Owner
    ) throws(Failure) {
        self.init(
            photo: digest,
            recipe: try request.recipe.resolved(
                for: header.uprightSize, pictures: request.pictures),
            render: Engine.render, owner: owner)
    }
}
