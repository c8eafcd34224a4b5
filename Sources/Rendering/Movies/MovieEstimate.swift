import Adjustments
import Boxes
import Codecs
import RenderProtocol

/// The memory and time that rendering a movie is likely to need.
///
/// Memory: the child's own, a decoder's frames, as many frames as the encoder holds back, and colours of 10 bits; processor time by pixel. Peak over estimate,
/// seen of ten renders in 1080p and 4K: .70 to .96; the table is in MEASURED.md. Movies of 5 and 9 frames are at .51, before the encoder holds back what it
/// may.
struct MovieEstimate {
    /// Of one part: the longest.
    let segment: RenderEstimate
    /// Of joining the parts.
    let joining: RenderEstimate

    /// Bytes of a process with the codecs' tables.
    private static let processBytes = 50 << 20
    /// Tables of x265 beyond those of x264.
    private static let hevcBytes = 12 << 20
    /// Frames that a decoder keeps: the 16 of H.264 and HEVC at most, and some that it makes.
    private static let decoderFrames = 20
    /// Planes of a frame that is edited by rows: light in floats, some rows of it only, and a whole frame where it is turned.
    private static let turnedBytesPerPixel = 16
    /// Colours of 10 bits that are remembered: all runs, and places of a colourful movie.
    private static let deepColoursBytes =
        4 * DeepColourMemo.runsMax * DeepColourMemo.run + (10 << 20)
    /// Processor time of a pixel, in nanoseconds.
    private static let decoding = 14.0
    private static let editedPlanes = 4.0
    private static let editedRows = 20.0
    private static let joiningBytesPerSecond = 1e9

    /// - Parameter result: the size of the frames that are made, which an encoder holds back.
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
        let frames = movie.segments.map(\.decoded.count).max() ?? 0
        let isPlanes = lane == .planes
        let edit = isPlanes ? Self.editedPlanes : Self.editedRows * Double(max(1, passes.count))
        let turned = isPlanes ? 0 : Self.turnedBytesPerPixel * pixels
        segment = RenderEstimate(
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
