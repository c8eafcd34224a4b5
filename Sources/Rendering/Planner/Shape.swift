import Edits
import RenderProtocol

/// The input of the estimates: header and plan of a render.
struct Shape: Sendable {
    /// The header of the photo that is decoded.
    let photo: PhotoHeader
    /// The header of the picture that is edited: the photo, or a small copy of it.
    let edited: PhotoHeader
    let passes: [Pass]
    let lane: RenderPlan.Lane
    /// The size of the result.
    let size: PixelSize
    let output: OutputPlan
    let room: MemoryRoom

    /// Returns the samples per pixel that a JPEG of this chroma sampling stores.
    static func samples(_ chroma: Recipe.Chroma?, bands: Int) -> Double {
        switch chroma {
        case .half: 1.5
        case .halfColumns: 2
        case .full, nil: Double(bands)
        }
    }

    /// Bytes of a decoded pixel.
    var decodedBytes: Int { photo.bands * photo.bitsPerSample / 8 }
    /// Bytes of a pixel before encoding.
    var encodedBytes: Int { (output.keepsAlpha ? 4 : 3) * (output.bitDepth == .eight ? 1 : 2) }
    /// Bytes of the coefficients of the photo as a JPEG.
    var coefficientBytes: Int {
        Int(2 * Self.samples(photo.chroma, bands: photo.bands) * Double(photo.storedSize.pixels))
    }
}

extension PhotoHeader {
    /// Whether it is a HEIC that is decoded by rows of tiles.
    var isTiledHEIF: Bool { format == .heif && !isDecodedWhole }
}

extension RenderEstimate {
    /// Estimates the resources that a render is likely to need.
    init(of shape: Shape) {
        self.init(
            memoryBytes: MemoryEstimate(of: shape).bytes,
            spoolBytes: SpoolEstimate.bytes(
                of: shape.passes, lane: shape.lane, header: shape.edited, output: shape.output,
                memoryMax: shape.room.keptBytesMax),
            cpuSeconds: TimeEstimate.seconds(of: shape))
    }
}
