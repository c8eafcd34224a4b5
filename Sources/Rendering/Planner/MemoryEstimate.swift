import Adjustments
import RenderProtocol

/// How much memory a render is likely to need at its peak, from what its header and plan say.
///
/// A model for people and for those who pack renders, not a limit. Each number was fitted to the peaks of
/// real renders (24 and 12 MP, one thread) and rounded up.
enum MemoryEstimate {
    /// The process with libvips, its decoders and our tables.
    private static let base = 44 << 20
    /// Rows that libvips keeps of what it reads and writes: four and two times a tile's height of 32.
    private static let rowsRead = 4 * 32
    private static let rowsWritten = 2 * 32
    /// The memo of colours.
    private static let memo = 10 << 20
    /// Bytes of a pixel of linear light in planes.
    private static let lightBytes = 16
    /// What a blur keeps beyond the rows it looks at is shrunk, and bounded.
    private static let blurRowsMax = 256

    /// Bytes of a pixel that decoders hold which decode a picture as a whole.
    private static let decoderBytes = ["heif": 8, "webp": 6, "jxl": 16, "gif": 4, "raw": 20]
    /// The same of encoders.
    private static let encoderBytes: [Recipe.Format: Int] = [
        .webp: 7, .heic: 14, .avif: 28, .jxl: 40,
    ]

    /// The estimate in bytes.
    static func bytes(
        of passes: [Pass], lane: RenderPlan.Lane, header: PhotoHeader, size: PixelSize,
        output: OutputPlan
    ) -> Int {
        let photo = header.storedSize
        let sampleBytes = header.bitsPerSample / 8
        switch lane {
        case .copy: return base
        case .lossless:
            // Coefficients of 2 bytes: 3 for a pixel of 4:2:0, 6 of 4:4:4.
            return base + photo.pixels * (output.chroma == .full ? 6 : 3)
        case .planes:
            let planes = photo.pixels * (output.chroma == .full ? 6 : 3) / 2
            return base + memo + (header.orientation == 1 ? 0 : planes)
        case .stream, .spool:
            var bytes = base + memo
            bytes += rowsRead * photo.width * header.bands * sampleBytes
            bytes += rowsWritten * size.width * 4 * (output.bitDepth == .eight ? 1 : 2)
            bytes += photo.pixels * (decoderBytes[header.format] ?? 0)
            bytes += size.pixels * (encoderBytes[output.format] ?? 0)
            for case .neighbourhood(_, let filter) in passes {
                let rows = min(2 * filter.reach.rows + 32, blurRowsMax)
                bytes += rows * photo.width * lightBytes
            }
            if lane == .spool {
                bytes += min(photo.pixels * header.bands * sampleBytes, Photo.memorySpoolBytesMax)
            }
            return bytes
        }
    }
}
