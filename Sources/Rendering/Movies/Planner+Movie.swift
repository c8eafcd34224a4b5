import Edits
import PhotoFiles
import Codecs
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
        return Planned(
            plan: RenderPlan(
                lane: chosen, orientation: header.orientation, resultSize: size,
                passes: passes.map(\.reported),
                output: OutputPlan(
                    format: movie.facts.container, quality: asked.movie.quality ?? asked.quality,
                    chroma: .half, progressive: false,
                    bitDepth: movie.isDeep ? .ten : .eight, keepsAlpha: false,
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
}

extension Planner {
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
