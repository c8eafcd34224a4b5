import Editors
import Edits
import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol
import SystemPackage

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
        _ adoption: EditPlan.Adoption, _ edit: Edit, _ open: OpenAsset, _ job: Job,
        placeholder: @escaping @Sendable (String) async -> Void
    ) async throws -> Provenance {
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
                Content.Image(
                    name: name, mediaType: rendered.mediaType,
                    size: rendered.uprightSize, bytes: digest.bytes, sha256: digest.hex)
            )
        }
        let (tiny, previews) = try await inSlot(job) {
            try await smallPictures(of: copy, edit.output?.previews ?? [], job, placeholder)
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
                source: Content.Input(
                    sha256: try FileDigest.hex(of: original),
                    format: header.format.rawValue, size: header.storedSize,
                    orientation: header.orientation),
                base: nil, adjustment: adjustment,
                opened: nil, recipe: adoption.recipe, editDigest: edit.json.digest, rendering: nil,
                render: image, pairedVideo: movie, previews: previews,
                placeholder: tiny)
        }
        return try await seal(edit, open, job, content: content, timeline: nil)
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
            return Content.Image(
                name: name, mediaType: header.mediaType, size: header.uprightSize,
                bytes: digest.bytes, sha256: digest.hex)
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

    /// Makes the previews of an imported render, which already contains the edit.
    private func smallPictures(
        of render: OpenFile, _ sides: [Int], _ job: Job,
        _ placeholder: @escaping @Sendable (String) async -> Void
    ) async throws -> (String?, [Content.Preview]) {
        guard !sides.isEmpty else { return (nil, []) }
        let recipe = try Recipe(filters: [], output: Recipe.Output(previews: sides))
        let small = SmallPictures(recipe.output)
        return try await pool.planning { memoryMax in
            let request = PhotoRequest(
                recipe: recipe, limits: limits, outputs: small.outputs(around: []),
                memoryMax: memoryMax)
            let files = try await offPool { () throws(Failure) in
                try self.files(
                    RenderFiles(sources: [render]), for: request, in: job.staged)
            }
            return try await pool.render(request, files, for: job.borrower) { _, _ in
                let tiny = try await offPool { () throws(Failure) in
                    try small.placeholder.map { index throws(Failure) in
                        try Self.placeholder(files.outputs[index])
                    }
                }
                if let tiny { await placeholder(tiny) }
                return try await offPool { () throws(Failure) in
                    (tiny, try acceptPreviews(small, after: 0, of: files, into: job.staged))
                }
            }
        }
    }
}

extension PhotoHeader {
    /// Its kind, for messages.
    fileprivate var kind: String { movie == nil ? "photo" : "movie" }
}

/// The movie of a Live Photo, which is edited together with its still.
struct LivePair: Sendable {
    let movie: OpenFile
    /// The SHA-256 of the movie, in hex.
    let sha256: String
    let request: PhotoRequest
    /// The movie, and the resources that the edit names.
    let files: RenderFiles
    let inspection: Inspection

    /// Returns the new content identifier of both halves: a UUID of version 8 (RFC 9562 §5.8), derived from the
    /// still's render key, so that the same edit of the same halves yields the same identifier.
    ///
    /// - Parameter key: the render key, in hex.
    static func identifier(_ key: String) -> String {
        var bytes = Array(SHA256.hash(data: "Live Photo \(key)".utf8).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + text : text
        }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
            .map { digits[$0].joined() }.joined(separator: "-")
    }
}

extension AssetEditor {
    /// Returns the movie that is paired with a still; nil for a photo alone.
    ///
    /// Lengths of the edit refer to the still. They are scaled to the movie's frames. Automatic values are decided
    /// once, from the still.
    ///
    /// - Parameters:
    ///   - still: the inspection of the photo that is edited: the original, or a base.
    ///   - base: the movie beside the base; nil: the original's movie.
    /// - Throws: `pairMismatch` if the movie beside the still cannot be edited with it.
    func pair(
        _ still: Inspection, _ request: PhotoRequest, of asset: AssetPath, base: StoredFile?,
        _ job: Job
    ) async throws -> LivePair? {
        guard let identifier = still.header.contentIdentifier, still.header.movie == nil else {
            return nil
        }
        let movie: OpenFile
        if let base {
            movie = try await library.open(base)
        } else {
            let videos = try await library.pairedVideos(of: asset)
            guard
                case .livePhoto(let path) = MediaType(
                    contentIdentifier: identifier, videos: videos)
            else { return nil }
            movie = try await openPhoto(path, for: job.borrower)
        }
        let probe = PhotoRequest(recipe: try Recipe(filters: []), limits: limits)
        let header = try await pool.inspect(
            probe, RenderFiles(sources: [movie]), for: job.borrower
        ).header
        guard header.movie != nil, header.contentIdentifier == identifier else {
            throw Failure(
                .pairMismatch,
                "the asset \(asset.string.debugDescription) is the still of a Live Photo, and \(movie.name) is "
                    + "not its movie: it is \(header.movie == nil ? "a photo" : "a movie") marked \(header.contentIdentifier ?? "with nothing"), the still is marked \(identifier). Put the "
                    + "right movie beside it, or move this one away to edit the still alone.")
        }
        var output = request.recipe.output
        (output.format, output.previews) = (nil, [])
        let scaled = try still.recipe.shown(
            on: header.uprightSize, of: still.header.uprightSize)
        let recipe = try Recipe(filters: scaled.filters, output: output)
        let files = try await offPool { () throws(Failure) in
            try self.files(movie, for: recipe, of: job.borrower.owner)
        }
        let wanted = PhotoRequest(recipe: recipe, limits: limits, memoryMax: request.memoryMax)
        return LivePair(
            movie: movie,
            sha256: try await offPool { () throws(Failure) in try FileDigest.hex(of: movie) },
            request: wanted, files: files,
            inspection: try await pool.inspect(wanted, files, for: job.borrower))
    }

    /// Renders the movie of a Live Photo into the staged version.
    ///
    /// - Parameters:
    ///   - key: the render key of both halves.
    ///   - identifier: the new content identifier of the movie; nil: it keeps its own.
    /// - Returns: the file, and the resources that the render used.
    func rendered(
        _ pair: LivePair, _ key: RenderKey, marked identifier: String?, of asset: AssetPath,
        _ job: Job
    ) async throws -> (Content.Image, RenderUse) {
        let inspection = pair.inspection
        let movie = MovieParts(
            pool: pool, borrower: job.borrower, request: pair.request, files: pair.files,
            inspection: inspection, kept: MovieParts.Kept(library: library, key: key))
        let (files, partsUse) = try await movie.rendered(job.progress) {
            () throws(Failure) in try library.staging.scratch(for: job.staged)
        }
        let request = PhotoRequest(
            recipe: inspection.recipe, limits: limits, memoryMax: pair.request.memoryMax,
            contentIdentifier: identifier)
        return try await pool.lend(inspection.memoryBytes, to: job.borrower) { child in
            let handed = try await offPool { () throws(Failure) in
                try self.files(files, for: request, in: job.staged)
            }
            let use = try await child.render(request, handed, as: inspection)
            let image = try await offPool { () throws(Failure) in
                try accept(
                    handed.outputs[0],
                    as: asset.stem + "." + inspection.plan.output.format.fileExtension,
                    RenderedResult(
                        format: inspection.plan.output.format,
                        size: .exactly(inspection.plan.resultSize), limits: limits),
                    sourceBytes: pair.movie.length(), into: job.staged)
            }
            return (image, use.after(partsUse))
        }
    }
}

/// An edit of an asset that arrived later than the edit whose job runs now. It is kept, because readers see the
/// edit that arrived last.
struct NewerEdit: Sendable, Equatable {
    /// The version or draft of the later edit.
    let version: Provenance
    /// The arrival times of both edits, for messages.
    let reason: String

    /// Finds the later edit; nil if there is none.
    ///
    /// An edit that replaces the last one is superseded by the later edit. An edit that changes the last one was
    /// meant for the state at the time it was sent, so it fails.
    ///
    /// - Parameter arrival: the edit's arrival, in µs since 1970; nil: no queue sent the edit, so it is the newest.
    /// - Throws: `overtaken`.
    init?(
        than edit: Edit, arrivedAt arrival: Int?, _ open: OpenAsset
    ) throws(Failure) {
        guard let arrival else { return nil }
        func isNewer(_ version: Provenance) -> Bool { open.state.arrival(of: version) > arrival }
        if edit.mode.changesWhatIsThere {
            let newer = [open.state.current, edit.mode.anyDraft ? open.state.draft : nil]
            if let version = newer.compactMap(\.self).first(where: isNewer) {
                throw Self.overtaken(edit.mode.name, arrival, by: version, open)
            }
        }
        let target =
            edit.isDraft || edit.mode.anyDraft ? open.state.draft : open.state.current
        guard !edit.mode.namesDraft, let version = target, isNewer(version) else { return nil }
        self.version = version
        reason =
            "\(Self.sentence(version, open.state)), and this edit arrived at \(Self.time(arrival))"
    }

    private static func overtaken(
        _ mode: Edit.Name, _ arrival: Int, by version: Provenance, _ open: OpenAsset
    ) -> Failure {
        Failure(
            .overtaken,
            "\(mode.rawValue) of \(open.asset.string.debugDescription) arrived at \(time(arrival)), but "
                + "\(sentence(version, open.state)) and was carried out first. Check that version, and send the edit "
                + "again if it is still needed.")
    }

    private static func sentence(_ version: Provenance, _ state: AssetState) -> String {
        let arrival = state.arrival(of: version)
        let shown =
            "\(version.isDraft ? "the draft" : "version") \(version.version) by job \(version.author.job)"
        return arrival == version.author.arrival
            ? "\(shown) arrived at \(time(arrival))"
            : "an edit that asks for what \(shown) shows arrived at \(time(arrival))"
    }

    private static func time(_ arrival: Int) -> String {
        Date(timeIntervalSince1970: Double(arrival) / 1e6)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension AssetEditor.Job {
    /// How far an arrival in the library may be ahead of the queue's time, in µs: two queues have two clocks. It is also
    /// how much time a server that took over leaves (`records.lua`).
    private static let aheadMax = 10_000_000

    /// Returns the job with an arrival above those of an asset that are ahead of any clock of the queue.
    ///
    /// Redis was replaced by an empty server, or by one of a backup, whose clock is right, and the clock before was ahead.
    /// The queue knows nothing of those arrivals, and this edit was sent after them.
    func arriving(in state: AssetState) -> Self {
        let last = max(state.arrival, state.draft?.author.arrival ?? 0)
        guard let queueTime, let arrival = author.arrival, last > queueTime + Self.aheadMax,
            arrival <= last
        else { return self }
        var job = self
        job.author = author.arriving(at: last + 1)
        return job
    }
}

extension Provenance.Author {
    fileprivate func arriving(at arrival: Int) -> Self {
        Self(
            queue: queue, job: job, generation: generation, attempt: attempt, worker: worker,
            at: at, arrival: arrival)
    }
}

extension AssetState {
    /// Returns the arrival of the edit that produced a version or draft, in µs since 1970.
    fileprivate func arrival(of version: Provenance) -> Int {
        version.isDraft ? version.author.arrival ?? 0 : arrival
    }
}

extension Edit.Mode {
    /// Whether the mode refers to the state at the time it was sent, and would have another effect on a newer edit.
    fileprivate var changesWhatIsThere: Bool {
        switch self {
        case .append, .amend, .undo, .redo, .publish: true
        case .replace, .copyEdit, .import, .render, .revert, .discard: false
        }
    }

    /// Whether the mode concerns the draft without naming it.
    fileprivate var anyDraft: Bool {
        switch self {
        case .publish(nil), .discard(nil): true
        default: false
        }
    }

    /// Whether the mode names one draft. That draft cannot be newer, because it existed when the edit was sent.
    fileprivate var namesDraft: Bool {
        switch self {
        case .publish(_?), .discard(_?): true
        default: false
        }
    }
}
