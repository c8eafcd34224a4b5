import Edits
import Files
import PhotoFiles
import RenderProtocol

/// The video of a motion photo as a single-part movie, planned with the recipe of its still.
final class MotionClip {
    let photo: Photo
    let movie: MovieFile
    private let video: MotionVideo

    /// The most bytes of a video: phones write 2 to 10 MB for 3 seconds. The coded video waits in the spool file while the photo is made.
    static let bytesMax = 32 << 20
    /// The longest video in seconds, and the most frames: 20 seconds at 60 a second.
    private static let secondsMax = 20
    private static let framesMax = 1_200
    /// The most memory that its frames may need, in bytes: 4K in H.264 takes 0.95 GB.
    private static let memoryMax = 1 << 30
    /// The most processor time, in reference seconds: the whole render may take five minutes.
    private static let cpuSecondsMax = 90.0

    private init(_ photo: Photo, _ movie: MovieFile, _ video: MotionVideo) {
        (self.photo, self.movie, self.video) = (photo, movie, video)
    }

    /// A video with its plan, or the reason why it cannot be edited, as a readable clause.
    enum Planned {
        case clip(MotionClip)
        case obstacle(String)
    }

    /// Plans the edit of the video beside a photo. Lengths are scaled from the still to the video's frames; automatic filters use
    /// the values decided for the still.
    ///
    /// - Parameter recipe: in pixels of the still, resolved.
    /// - Returns: nil for a photo that has no video and claims none.
    static func plan(of still: OpenedPhoto, _ recipe: Recipe) -> Planned? {
        guard let video = still.companions.video else {
            return still.companions.videoObstacle.map { .obstacle($0) }
        }
        guard recipe.output.strip != .all else {
            return .obstacle(
                "edit.output.strip is all, and it is metadata of the photo that say where a video lies"
            )
        }
        guard video.byteRange.count <= bytesMax else {
            return .obstacle(
                "it has \(video.byteRange.count) bytes; one in a photo is edited up to \(bytesMax)")
        }
        do throws(Failure) {
            let clip = try MotionClip(video, of: still, recipe)
            return clip.excess.map { .obstacle($0) } ?? .clip(clip)
        } catch {
            return .obstacle(error.message)
        }
    }

    private convenience init(
        _ video: MotionVideo, of still: OpenedPhoto, _ recipe: Recipe
    ) throws(Failure) {
        var limits = still.limits
        limits.movieSecondsMax = min(limits.movieSecondsMax, Self.secondsMax)
        limits.movieFramesMax = min(limits.movieFramesMax, Self.framesMax)
        let file = try PhotoFile(video, of: still.file, limits: limits)
        guard let movie = try MovieFile(file, limits: limits) else {
            throw Failure(.unsupportedFormat, "\(file.name) is no movie.")
        }
        var output = recipe.output
        (output.format, output.previews) = (nil, [])
        let scaled = try recipe.shown(
            on: movie.header().uprightSize, of: still.header.uprightSize)
        let opened = try OpenedPhoto(
            file, recipe: Recipe(filters: scaled.filters, output: output), limits: limits,
            resources: still.resources)
        self.init(try Photo(opened), movie, video)
    }

    /// The reason why the edit would exceed a limit, or nil.
    private var excess: String? {
        guard isRendered else { return nil }
        let need = estimate
        guard need.memoryBytes <= Self.memoryMax, need.cpuSeconds <= Self.cpuSecondsMax else {
            return
                "its frames would need \(need); one in a photo may need \(Self.memoryMax >> 20) MB and \(Int(Self.cpuSecondsMax)) s"
        }
        return nil
    }

    /// Whether its frames are encoded again.
    private var isRendered: Bool { photo.plan.movie?.codec != nil }

    /// The resources that its frames need. The photo's estimate counts its bytes.
    private var estimate: RenderEstimate {
        guard isRendered, let movie = photo.plan.movie else { return photo.plan.estimate }
        var need = movie.segment
        need.cpuSeconds += photo.plan.estimate.cpuSeconds
        return need
    }

    /// The memory that its frames need, which is more than the photo does; nil if none is encoded again.
    var note: String? {
        isRendered ? "its frames need \(estimate), before the photo's own memory is needed" : nil
    }

    /// Returns the resources for a photo together with this video, which is encoded before the photo.
    func added(to still: RenderEstimate) -> RenderEstimate {
        // The encoder is limited to twice the source's bit rate. One that is copied stays where it is.
        let bytes = photo.plan.lane == .copy ? 0 : 2 * movie.movie.length
        return RenderEstimate(
            memoryBytes: max(still.memoryBytes, estimate.memoryBytes) + AttachedVideo.stepBytes,
            spoolBytes: still.spoolBytes + bytes,
            cpuSeconds: still.cpuSeconds + estimate.cpuSeconds)
    }

    // MARK: Rendering

    /// Failures of the video alone. The photo is then rendered without it.
    static let faults: Set<FailureCode> = [.damagedVideo, .unsupportedFormat]

    /// Edits and encodes its frames.
    ///
    /// - Parameters:
    ///   - scratch: a file for temporary use, truncated afterwards.
    ///   - spool: keeps the coded video until the photo is made.
    /// - Throws: `damagedVideo` and other failures of movies; `noSpace`, `ioFailure`.
    func rendered(scratch: OpenFile, spool: SpoolSpace?) throws(Failure) -> AttachedVideo {
        let content: AttachedVideo.Content
        if photo.plan.lane == .copy {
            content = .source(movie.file.file, video.byteRange)
        } else {
            guard let spool else {
                throw Failure(.internalError, "a motion photo came without a spool file.")
            }
            content = try written(in: scratch, spool)
        }
        return AttachedVideo(
            content: content,
            attachment: Attachments.Video(
                bytes: content.count, type: photo.plan.output.format.mediaType,
                claims: video.claims.within(seconds: movie.seconds)))
    }

    /// Writes the part of frames, followed by the movie, and moves the movie to the spool file.
    private func written(
        in scratch: OpenFile, _ spool: SpoolSpace
    ) throws(Failure) -> AttachedVideo.Content {
        try scratch.cut(to: 0)
        if isRendered {
            try MoviePartWriter(photo, movie).write(0, to: scratch) { _ throws(Failure) in }
        }
        let start = try scratch.length()
        try MovieWriter(photo, movie, from: start).write(
            isRendered ? [scratch] : [], to: scratch)
        let length = try scratch.length() - start
        let kept = try SpoolFile(bytes: length, in: spool)
        for offset in stride(from: 0, to: length, by: AttachedVideo.stepBytes) {
            let count = min(AttachedVideo.stepBytes, length - offset)
            let bytes = scratch.bytes(from: start + offset, count: count)
            guard bytes.count == count else {
                throw Failure(.ioFailure, "\(scratch.name) cannot be read back.")
            }
            try Self.write(bytes, to: kept, at: offset)
        }
        try scratch.cut(to: 0)
        return .spooled(kept, count: length)
    }

    private static func write(
        _ bytes: [UInt8], to kept: SpoolFile, at offset: Int
    ) throws(Failure) {
        let failure = bytes.withUnsafeBytes { bytes -> Failure? in
            do throws(Failure) { try kept.write(bytes, at: offset) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }
}

/// An encoded video, and the description of it for the photo's XMP.
struct AttachedVideo: Sendable {
    let content: Content
    let attachment: Attachments.Video

    /// Where its bytes are.
    enum Content: Sendable {
        /// In the photo's own file.
        case source(OpenFile, Range<Int>)
        case spooled(SpoolFile, count: Int)

        var count: Int {
            switch self {
            case .source(_, let range): range.count
            case .spooled(_, let count): count
            }
        }
    }

    /// Bytes that are in memory at once.
    static let stepBytes = 1 << 20

    /// Writes the video at an offset of a file.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func write(to file: OpenFile, at start: Int) throws(Failure) {
        let step = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.stepBytes, alignment: 16)
        defer { step.deallocate() }
        for offset in stride(from: 0, to: content.count, by: Self.stepBytes) {
            let count = min(Self.stepBytes, content.count - offset)
            switch content {
            case .source(let source, let range):
                let bytes = source.bytes(from: range.lowerBound + offset, count: count)
                guard bytes.count == count else {
                    throw Failure(
                        .ioFailure,
                        "\(source.name) became shorter while its video was copied. Put originals in their place by a rename."
                    )
                }
                try file.write(bytes, at: start + offset)
            case .spooled(let spool, _):
                let part = UnsafeMutableRawBufferPointer(rebasing: step[..<count])
                try spool.read(part, at: offset)
                try file.write(UnsafeRawBufferPointer(part), at: start + offset)
            }
        }
    }

    /// Writes the video as the last box of a finished HEIC.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func append(toHEIC file: OpenFile) throws(Failure) {
        guard let header = Attachments.boxHeader(ofVideo: content.count) else {
            throw Failure(.internalError, "a video of \(content.count) bytes fits in no box.")
        }
        let length = try file.length()
        try file.write(header, at: length)
        try write(to: file, at: length + header.count)
    }
}
