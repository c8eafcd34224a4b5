import Edits
import Files
import FoundationEssentials
import Library
import RenderPool
import RenderProtocol

/// The movie of a Live Photo, which is edited together with its still.
struct LivePair: Sendable {
    let movie: OpenFile
    /// The SHA-256 of the movie, in hex.
    let sha256: String
    let request: PhotoRequest
    /// The movie, and the resources that the edit names.
    let files: RenderFiles
    let inspection: Inspection

    /// Returns the new content identifier of both halves: a UUID of version 8 (RFC 9562 §5.8), derived from what their
    /// render key is made of, so that the same edit of the same halves yields the same identifier.
    ///
    /// It is written into both files. So a new number of the render must not change it, and it is derived from what the key was when
    /// keys had the name of the engine.
    static func identifier(photo: String, recipe: Recipe, owner: Owner) -> String {
        let key = RenderKey.hex(photo, recipe, owner, ["engine": .string("minilab/0.4.0")])
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
        var request = pair.request
        request.recipe = inspection.recipe
        request.contentIdentifier = identifier
        let resolved = request
        return try await pool.lend(inspection.memoryBytes, to: job.borrower) { child in
            let handed = try await offPool { () throws(Failure) in
                try self.files(files, for: resolved, in: job.staged)
            }
            let use = try await child.render(resolved, handed, as: inspection)
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
