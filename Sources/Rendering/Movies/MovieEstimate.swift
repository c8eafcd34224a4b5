import Edits
import PhotoFiles
import Codecs
import RenderProtocol

/// The memory and time that rendering a movie is likely to need.
///
/// Memory: the child's own, a decoder's frames, the frames that the encoder holds back, and the memo of 10-bit colours. Processor
/// time is per pixel. The ratio of peak to estimate, measured on ten renders in 1080p and 4K, is .70 to .96; the table is in
/// MEASURED.md. Movies of 5 and 9 frames are at .51, because the encoder does not reach its limit of held frames.
struct MovieEstimate {
    /// The estimate of the longest part.
    let part: RenderEstimate
    /// The estimate of joining the parts.
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
        4 * DeepColourMemo.runsMax * DeepColourMemo.run + (10 << 20)
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
