import Adjustments
import RenderProtocol

/// What the need of a render follows from: its header and its plan.
struct Shape: Sendable {
    /// The header of what is decoded.
    let photo: PhotoHeader
    /// The header of what is edited: the photo, or a small copy of it.
    let edited: PhotoHeader
    let passes: [Pass]
    let lane: RenderPlan.Lane
    /// Of the result.
    let size: PixelSize
    let output: OutputPlan
    let room: MemoryRoom

    /// Samples of a pixel as a JPEG of the chroma stores them.
    static func samples(_ chroma: Recipe.Chroma?, bands: Int) -> Double {
        switch chroma {
        case .half: 1.5
        case .halfColumns: 2
        case .full, nil: Double(bands)
        }
    }

    /// Bytes of a pixel as it is decoded.
    var decodedBytes: Int { photo.bands * photo.bitsPerSample / 8 }
    /// Bytes of a pixel as it is encoded.
    var encodedBytes: Int { (output.keepsAlpha ? 4 : 3) * (output.bitDepth == .eight ? 1 : 2) }
    /// Bytes of the coefficients of the photo as a JPEG.
    var coefficientBytes: Int {
        Int(2 * Self.samples(photo.chroma, bands: photo.bands) * Double(photo.storedSize.pixels))
    }
}

extension PhotoHeader {
    /// Whether it is a HEIC of which a row of tiles is decoded at a time.
    var isTiledHEIF: Bool { format == .heif && !isDecodedWhole }
}

extension RenderEstimate {
    /// What a render is likely to need.
    init(of shape: Shape) {
        self.init(
            memoryBytes: MemoryEstimate(of: shape).bytes,
            spoolBytes: SpoolEstimate.bytes(
                of: shape.passes, lane: shape.lane, header: shape.edited, output: shape.output,
                memoryMax: shape.room.keptBytesMax),
            cpuSeconds: TimeEstimate.seconds(of: shape))
    }
}
