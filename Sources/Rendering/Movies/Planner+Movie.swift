import Codecs
import Edits
import PhotoFiles
import RenderProtocol

extension Planner {
    /// Plans the render of a movie.
    ///
    /// Filters see frames upright. Frames are stored in the orientation of the source, and the movie's matrix stays, unless the
    /// recipe bakes it in.
    ///
    /// - Parameters:
    ///   - recipe: in pixels of an upright frame.
    ///   - header: the movie's header.
    ///   - isRenamed: whether its content identifier changes.
    /// - Throws: as ``plan(_:for:of:limits:room:planes:losslessObstacle:beside:resources:)``.
    static func plan(
        _ recipe: Recipe, for movie: MovieFile, header: PhotoHeader, limits: RenderLimits,
        room: MemoryRoom, resources: Resources, isRenamed: Bool
    ) throws(Failure) -> Planned {
        let asked = recipe.output
        var notes = header.notes
        if let format = asked.format, format != movie.facts.container {
            notes.append(
                "edit.output.format is \(format.rawValue); a movie keeps its own, \(movie.facts.container.rawValue)"
            )
        }
        if asked.writesMetadata {
            notes.append("edit.output.metadata is for photos; nothing is written into a movie")
        }
        let upright = movie.orientation
        var (steps, size) = try steps(
            of: recipe, on: header.uprightSize, limits: limits, resources)
        if upright != .upright {
            steps.insert(.geometry(Geometry(of: header.storedSize, turn: upright)), at: 0)
        }
        let passes = passes(of: steps, keepsAlpha: false)
        var lane: RenderPlan.Lane?
        if asked.isPlain, let turn = turn(of: passes), passes.allSatisfy(\.isGeometry) {
            let isSame =
                turn == upright && !asked.movie.mute && !isRenamed && asked.strip == .none
            lane = isSame ? .copy : .lossless
        }
        let layout = FrameLayout(
            width: header.storedSize.width, height: header.storedSize.height,
            bits: movie.isDeep ? 10 : 8)
        let codec = try movie.codec(for: asked.movie.codec, isDeep: movie.isDeep)
        if lane == nil {
            let frames = try FramePlan(
                recipe, layout, movie.colour(of: layout), upright: upright,
                staysUpright: asked.movie.bakeRotation, limits: limits, resources)
            if case .planes = frames.method { lane = .planes }
            try check(frames.size, layout, codec)
            let isTurned = !asked.movie.bakeRotation && upright.swapsSides
            size =
                isTurned
                ? PixelSize(width: frames.size.height, height: frames.size.width) : frames.size
        }
        let chosen = lane ?? .stream
        let isRendered = chosen == .planes || chosen == .stream
        let estimate = MovieEstimate(movie, size, passes, chosen, codec)
        let others = movie.leftOut(in: chosen)
        let sampling = movie.sampling()
        return Planned(
            plan: RenderPlan(
                lane: chosen, orientation: header.orientation, resultSize: size,
                passes: passes.map(\.reported),
                output: OutputPlan(
                    format: movie.facts.container, quality: asked.movie.quality ?? asked.quality,
                    chroma: sampling.chroma, progressive: false,
                    bitDepth: sampling.bits, keepsAlpha: false,
                    background: asked.background ?? .white, colorSpace: .source,
                    strip: asked.strip),
                threads: 1, rung: room.rung, estimate: estimate.joining,
                leftOut: others.isEmpty ? nil : others,
                movie: MoviePlan(
                    codec: isRendered ? (codec == .h264 ? .h264 : .hevc) : nil,
                    frames: movie.ranks.count,
                    segments: movie.parts.count, segment: estimate.part),
                notes: notes),
            passes: passes, room: room)
    }

    /// The longest side of a frame that the encoders accept: x264's limit, which is the lower one.
    private static let frameSideMax = 16_384
    /// The smallest frame for x265. Below the width of its largest block, it writes beyond its buffers (x265 3.5, found by malloc's
    /// checks: widths up to 48 at any height, but not 64 and more); below this height it opens no encoder.
    private static let hevcMin = PixelSize(width: 64, height: 16)

    /// Rejects frames that no encoder accepts, before a frame is decoded.
    private static func check(
        _ size: PixelSize, _ layout: FrameLayout, _ codec: VideoEncoder.Codec
    ) throws(Failure) {
        let least = hevcMin
        guard codec != .hevc || (size.width >= least.width && size.height >= least.height) else {
            throw Failure(
                .invalidValue,
                "The edit leaves \(size) pixels of a movie's frames as they are stored; expected are at least \(least) in HEVC. Crop "
                    + "less, or ask for h264 as edit.output.movie.codec.")
        }
        let most = VideoEncoder.Settings(layout).pixelsMax
        guard max(size.width, size.height) <= frameSideMax, size.pixels <= most else {
            throw Failure(
                .tooManyPixels,
                "The movie's frames would have \(size) pixels; expected are sides of \(frameSideMax) and \(most) pixels in all "
                    + "at most. Scale less.")
        }
    }
}

extension Recipe.Output {
    /// Whether the unchanged samples already satisfy it.
    fileprivate var isPlain: Bool {
        quality == Self.defaultQuality && movie.codec == .source
            && movie.quality == nil && !movie.bakeRotation
    }
}

/// The memory and time that rendering a movie is likely to need.
///
/// Memory: the child's own, a decoder's frames, the frames that the encoder holds back, and the memo of 10-bit colours. Processor
/// time is per pixel. The ratio of peak to estimate, measured on ten renders in 1080p and 4K, is .70 to .96; the table is in
/// MEASURED.md. Movies of 5 and 9 frames are at .51, because the encoder does not reach its limit of held frames.
struct MovieEstimate {
    let part: RenderEstimate
    let joining: RenderEstimate

    /// Bytes of a process with the codecs' tables.
    private static let processBytes = 50 << 20
    /// The size of x265's tables beyond those of x264.
    private static let hevcBytes = 12 << 20
    /// Frames that a decoder keeps: at most the 16 of H.264 and HEVC, and some in progress.
    private static let decoderFrames = 20
    /// Bytes per pixel of a frame that is edited in rows: light in floats, only some rows of it, and a whole frame if it is turned.
    private static let turnedBytesPerPixel = 16
    /// The memo of 10-bit colours: all runs, and the indices of a colourful movie.
    private static let deepColoursBytes =
        4 * DeepMemo.runsMax * DeepMemo.run + (10 << 20)
    /// Processor time per pixel, in nanoseconds.
    private static let decoding = 14.0
    private static let editedPlanes = 4.0
    private static let editedRows = 20.0
    private static let joiningBytesPerSecond = 1e9

    /// - Parameter result: the size of the frames of the result, which the encoder holds back.
    init(
        _ movie: MovieFile, _ result: PixelSize, _ passes: [Pass], _ lane: RenderPlan.Lane,
        _ codec: VideoEncoder.Codec
    ) {
        let (width, height) = movie.movie.video.frameSize
        let sourcePixels = width * height
        let pixels = max(sourcePixels, result.pixels)
        func bytes(_ pixels: Int) -> Int { pixels * 3 / 2 * (movie.isDeep ? 2 : 1) }
        let framesHeld = codec == .h264 ? 52 : movie.isDeep ? 70 : 90
        let encoding = codec == .h264 ? 18.0 : movie.isDeep ? 60 : 45
        let frames = movie.parts.map(\.decoded.count).max() ?? 0
        let isPlanes = lane == .planes
        let edit = isPlanes ? Self.editedPlanes : Self.editedRows * Double(max(1, passes.count))
        let turned = isPlanes ? 0 : Self.turnedBytesPerPixel * pixels
        part = RenderEstimate(
            memoryBytes: Self.processBytes + (codec == .hevc ? Self.hevcBytes : 0)
                + Self.decoderFrames * bytes(sourcePixels) + framesHeld * bytes(result.pixels)
                + turned + (isPlanes && movie.isDeep ? Self.deepColoursBytes : 0),
            cpuSeconds: Double(frames * pixels)
                * (Self.decoding + edit + encoding) / 1e9)
        let length = movie.movie.length
        joining = RenderEstimate(
            memoryBytes: Self.processBytes + 4 * movie.movie.movieRange.count,
            cpuSeconds: 0.1 + Double(length) / Self.joiningBytesPerSecond)
    }
}
