import Edits
import PhotoFiles
import Files
import RenderProtocol

/// Writes a movie, or one part, according to its plan.
struct MovieWriter {
    private let photo: Photo
    private let movie: MovieFile
    private let byteRanges: [Range<Int>]
    /// The number of bytes of the target before the result.
    private let start: Int

    /// - Parameter start: bytes of the target before the result, which are kept.
    init(_ photo: Photo, _ movie: MovieFile, from start: Int = 0) {
        (self.photo, self.movie, self.start) = (photo, movie, start)
        byteRanges = movie.movie.samples.byteRanges
    }

    /// Writes an output.
    ///
    /// - Parameters:
    ///   - files: the request's files, with the movie's parts if it is joined from them.
    ///   - progress: receives the frames of a part that are done.
    func write(
        _ output: PhotoRequest.Output, to target: OpenFile, _ files: RenderFiles,
        progress: (RenderReply.Progress) throws(Failure) -> Void
    ) throws(Failure) {
        if let part = output.segment {
            guard movie.parts.indices.contains(part) else {
                throw Failure(
                    .internalError,
                    "part \(part) of a movie of \(movie.parts.count) was asked for.")
            }
            return try MoviePartWriter(photo, movie).write(part, to: target, progress: progress)
        }
        if photo.plan.lane == .copy {
            try target.cut(to: 0)
            try FileCopy.copy(movie.file.file, to: target)
        } else {
            try write(files.segments, to: target)
        }
    }

    /// Writes a movie that is not copied.
    ///
    /// - Parameter parts: its parts; empty if no sample changes.
    func write(_ parts: [OpenFile], to target: OpenFile) throws(Failure) {
        if photo.plan.lane == .lossless {
            try turn(to: target)
        } else {
            try join(parts, to: target)
        }
    }

    /// Writes the movie with another matrix; no sample changes.
    private func turn(to target: OpenFile) throws(Failure) {
        let turn = Planner.turn(of: photo.planned.passes) ?? .upright
        try write([], to: target) { movie throws(MovieProblem) in
            try Transplant(
                movie, samples: nil, entry: nil, matrix: MovieMatrix(orientation: turn.rawValue),
                isMuted: photo.recipe.output.movie.mute,
                strip: MovieStrip(photo.recipe.output.strip),
                identifier: renaming)
        }
    }

    /// The present content identifier and the new one.
    private var renaming: (old: String, new: String)? {
        guard let new = photo.opened.contentIdentifier, let old = photo.header.contentIdentifier,
            old.utf8.count == new.utf8.count
        else { return nil }
        return (old, new)
    }

    /// Writes the movie with the samples of its parts.
    private func join(_ files: [OpenFile], to target: OpenFile) throws(Failure) {
        guard files.count == movie.parts.count else {
            throw Failure(
                .internalError,
                "a movie of \(movie.parts.count) parts was to be joined of \(files.count).")
        }
        var parts: [MoviePartFile] = []
        var samples = Transplant.Samples(sizes: [], ranks: [], syncSamples: [])
        for (file, own) in zip(files, movie.parts) {
            let part = try MoviePartFile(file, of: own)
            guard part.entry == parts.first?.entry ?? part.entry else {
                throw Failure(
                    .internalError,
                    "Two parts of \(movie.file.name) were coded in different ways. Keep the movie for a report."
                )
            }
            samples.syncSamples += part.tail.syncSamples.map { $0 + samples.sizes.count }
            samples.sizes += part.tail.sizes
            samples.ranks += part.tail.ranks
            parts.append(part)
        }
        let entry = parts[0].entry
        let bakes = photo.recipe.output.movie.bakeRotation
        try write(parts, to: target) { movie throws(MovieProblem) in
            try Transplant(
                movie, samples: samples, entry: entry, matrix: bakes ? .upright : nil,
                isMuted: photo.recipe.output.movie.mute,
                strip: MovieStrip(photo.recipe.output.strip),
                identifier: renaming)
        }
    }

    private func write(
        _ parts: [MoviePartFile], to target: OpenFile,
        _ plan: (Movie) throws(MovieProblem) -> Transplant
    ) throws(Failure) {
        let transplant: Transplant
        do throws(MovieProblem) {
            transplant = try plan(movie.movie)
        } catch {
            throw Failure(error, of: movie.file.name, photo.opened.limits)
        }
        try target.cut(to: start)
        var offset = start
        for piece in transplant.pieces {
            switch piece {
            case .bytes(let bytes):
                try target.write(bytes, at: offset)
                offset += bytes.count
            case .source(let range): try copy(range, to: target, at: &offset)
            case .samples(let samples): try copy(samples, of: parts, to: target, at: &offset)
            }
        }
        guard offset - start == transplant.length else {
            throw Failure(
                .internalError,
                "\(movie.file.name) became a movie of \(offset - start) bytes where \(transplant.length) were planned. Keep "
                    + "the movie for a report.")
        }
    }

    private func copy(
        _ range: Range<Int>, to target: OpenFile, at offset: inout Int
    ) throws(Failure) {
        var from = range.lowerBound
        while from < range.upperBound {
            let bytes = movie.file.bytes(
                from: from, count: min(range.upperBound - from, FileWindow.windowMax))
            guard !bytes.isEmpty else {
                throw Failure(
                    .damagedVideo,
                    "\(movie.file.name) was cut off while it was read. Upload it again.")
            }
            try target.write(bytes, at: offset)
            from += bytes.count
            offset += bytes.count
        }
    }

    /// Copies samples, possibly of several parts. Without parts, it copies the movie's own samples, which form one chunk.
    private func copy(
        _ samples: Range<Int>, of parts: [MoviePartFile], to target: OpenFile, at offset: inout Int
    ) throws(Failure) {
        guard !parts.isEmpty else {
            let chunk = samples.first.map { byteRanges[$0].lowerBound } ?? 0
            let end = samples.last.map { byteRanges[$0].upperBound } ?? 0
            return try copy(chunk..<end, to: target, at: &offset)
        }
        var first = 0
        for part in parts {
            let own = first..<first + part.tail.sizes.count
            let wanted = samples.clamped(to: own)
            if !wanted.isEmpty {
                try part.copy(
                    wanted.lowerBound - first..<wanted.upperBound - first, to: target, at: &offset)
            }
            first = own.upperBound
        }
    }
}

extension MovieStrip {
    fileprivate init(_ strip: Recipe.Strip) {
        self =
            switch strip {
            case .none: .none
            case .gps: .location
            case .all: .all
            }
    }
}
