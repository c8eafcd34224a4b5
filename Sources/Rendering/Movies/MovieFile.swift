import Edits
import PhotoFiles
import Codecs
import RenderProtocol

/// A movie's open file: its tables, and its division into parts.
struct MovieFile {
    let file: PhotoFile
    let movie: Movie
    let parts: [MovieParts.Part]
    /// The presentation rank of each sample.
    let ranks: [Int]
    /// The codec of its frames, and the decoder's configuration.
    let codec: MovieCodec

    /// Reads the tables; nil if the file is a photo.
    ///
    /// - Throws: `damagedVideo`, `unsupportedFormat` or `exceedsLimit`, before a frame is decoded.
    init?(_ file: PhotoFile, limits: RenderLimits) throws(Failure) {
        guard file.format == .movie else { return nil }
        self.file = file
        var window = file.window
        do throws(MovieProblem) {
            movie = try Movie(
                &window, limits: MovieLimits(limits), isMotionPhoto: file.isMotionVideo)
            parts = try MovieParts(
                movie.samples, timeScale: movie.video.timeScale, isWhole: file.isMotionVideo
            ).parts
            codec = try MovieCodec(movie.video)
        } catch {
            throw Failure(error, of: file.name, limits)
        }
        ranks = movie.samples.ranks
    }

    /// The turn with which frames are shown; upright if the matrix is not a turn by quarters.
    var orientation: Orientation {
        Orientation(rawValue: movie.video.matrix?.orientation ?? 1) ?? .upright
    }

    /// Whether samples have more than 8 bits, by the sample description; ProRes has 10 or 12.
    var isDeep: Bool { codec.kind == .prores || codec.bits ?? 8 > 8 }

    /// The mean number of frames a second, at least 1.
    var rate: Double { max(1, Double(ranks.count) / max(seconds, 1e-3)) }

    /// The duration of the frames.
    var seconds: Double {
        let samples = movie.samples
        let end = (samples.decodeTimes.last ?? 0) + samples.lastDuration
        return Double(end) / Double(movie.video.timeScale)
    }

    var facts: MovieFacts {
        MovieFacts(
            container: movie.isQuickTime ? .mov : .mp4,
            codec: movie.video.formats[0].description, frames: ranks.count, seconds: seconds,
            segments: parts.count)
    }

    /// Returns the header, as for a photo of one frame.
    func header() -> PhotoHeader {
        let (width, height) = movie.video.frameSize
        return PhotoHeader(
            format: .movie, storedSize: PixelSize(width: width, height: height),
            orientation: orientation.rawValue, bands: 3, bitsPerSample: isDeep ? 16 : 8,
            hasAlpha: false, hasProfile: false, chroma: .half, rowsAtOnce: height,
            contentIdentifier: MovieIdentifier.identifier(in: file.window), movie: facts,
            notes: notes)
    }

    private var notes: [String] {
        let matrix =
            movie.video.matrix == nil
            ? ["the movie's matrix is no turn by quarters; frames are edited as they are stored"]
            : []
        let others =
            movie.otherVideos.isEmpty
            ? [] : ["its \(movie.otherVideos.count) other video tracks are left out"]
        return matrix + others + MovieCodec.Extra.allCases.filter(codec.extras.contains).map(\.note)
    }

    /// Returns the part with the frame that is shown at a time, and the frame's rank.
    ///
    /// - Parameter seconds: from the beginning; a time after the end selects the last frame.
    func frame(at seconds: Double) -> (part: Int, rank: Int) {
        let samples = movie.samples
        let shown = samples.times.sorted()
        let first = shown.first ?? 0
        let time = first + Int(min(seconds, 1e6) * Double(movie.video.timeScale))
        let rank = max(0, (shown.firstIndex { $0 > time } ?? shown.count) - 1)
        let part = parts.firstIndex { $0.frames.contains(rank) } ?? parts.count - 1
        return (part, rank)
    }
}

extension MovieFile {
    /// The codecs whose frames may have fields or alpha of which the container says nothing: ffmpeg writes no `fiel` for H.264 and
    /// MPEG-4, and ProRes 4444 may or may not have alpha.
    private static let toldByFrames: Set<MovieCodec.Kind> = [.h264, .mpeg4, .prores]

    /// Returns whether frames have fields and alpha, by the container and the first frame. A frame that cannot be decoded is for the
    /// render to report.
    private func streamContents() -> (fields: Bool, alpha: Bool) {
        var found = (fields: codec.isInterlaced == true, alpha: codec.hasAlpha)
        guard Self.toldByFrames.contains(codec.kind) else { return found }
        do {
            try FrameReader(self, part: 0).read { frame, _ throws(Failure) in
                if codec.isInterlaced == nil { found.fields = frame.isInterlaced }
                if codec.kind == .prores { found.alpha = frame.hasAlpha }
                return false
            }
        } catch { return found }
        return found
    }

    /// Returns the contents that a render omits: those that only its streams have are kept if no frame is encoded again.
    func leftOut(in lane: RenderPlan.Lane) -> [Companion] {
        guard lane != .copy else { return [] }
        var others: Set<Companion> = movie.otherVideos.isEmpty ? [] : [.otherPictures]
        if lane != .lossless {
            if codec.extras.contains(.secondView) { others.insert(.secondEye) }
            let found = streamContents()
            if found.fields { others.insert(.fields) }
            if found.alpha { others.insert(.alpha) }
        }
        return others.sorted { $0.rawValue < $1.rawValue }
    }
}

extension MovieCodec.Extra {
    /// A readable note about the loss of this data when frames are encoded again.
    fileprivate var note: String {
        switch self {
        case .dolbyVision:
            "Dolby Vision's description of how to show the frames is left out where they are encoded again"
        case .secondView: "the view of the other eye is left out where frames are encoded again"
        }
    }
}
