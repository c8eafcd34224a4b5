import Edits
import PhotoFiles
import Codecs
import Files
import RenderProtocol

/// Decodes, edits and encodes a part of a movie.
struct MoviePartWriter {
    private let photo: Photo
    private let movie: MovieFile
    /// The quality of the frames; nil for the recipe's quality.
    private let quality: MovieCoding.Quality?

    init(_ photo: Photo, _ movie: MovieFile, quality: MovieCoding.Quality? = nil) {
        (self.photo, self.movie, self.quality) = (photo, movie, quality)
    }

    /// Writes a part.
    ///
    /// - Parameters:
    ///   - target: receives a ``MoviePartFile``.
    ///   - progress: receives the number of frames done, at most ``ReplyBounds/frameReportsMax`` times.
    func write(
        _ part: Int, to target: OpenFile,
        progress: (RenderReply.Progress) throws(Failure) -> Void
    ) throws(Failure) {
        try target.cut(to: 0)
        let reader = try FrameReader(movie, part: part)
        let frames = movie.parts[part].frames
        let step = max(
            1, (frames.count + ReplyBounds.frameReportsMax - 1) / ReplyBounds.frameReportsMax)
        var samples: MovieSampleWriter?
        var editor: FrameEditor?
        var done = 0
        try reader.read { frame, rank throws(Failure) in
            if editor == nil {
                try movie.check(frame.layout)
                let made = try movie.editor(photo, of: frame.layout)
                editor = made
                samples = try MovieSampleWriter(
                    movie, photo, made.result, light: frame.light, quality: quality, to: target)
            }
            guard let editor, let samples else { return false }
            try samples.add(rank) { planes throws(Failure) in
                try editor.edit(frame, into: planes)
            }
            done += 1
            if done.isMultiple(of: step) { try progress(.frames(done)) }
            TestPoint.midRender.reach()
            return true
        }
        guard let samples else {
            throw Failure(.internalError, "a part of \(movie.file.name) has no frames.")
        }
        try samples.finish()
    }
}
