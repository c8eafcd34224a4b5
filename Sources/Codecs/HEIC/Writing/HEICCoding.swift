public import PhotoFiles

/// The samples of a pixel that are encoded.
public enum HEICSamples: Sendable {
    /// Red, green and blue: the first three.
    case colour
    /// The sample at an index, as luma.
    case one(Int)
}

/// The settings for encoding a picture's samples as HEVC.
public struct HEICCoding: Sendable {
    /// The chroma sampling.
    public enum Chroma: Int, Sendable {
        /// None: a luma-only picture.
        case none = 0
        /// One sample for two columns and two rows, in the middle of their four pixels.
        case half = 1
        /// Full resolution.
        case full = 3
    }

    public var chroma: Chroma
    /// Bits of a coded sample: 8, 10 or 12.
    public var bits: Int
    /// x265's constant rate factor, 0 to 51, the quantiser of all tiles: lower is better.
    public var rate: Double
    /// The colour declarations of the stream besides the matrix: numbers of ITU-T H.273, or nil if a profile defines the colours.
    public var primaries: Int?, transfer: Int?

    /// Makes a coding.
    public init(
        chroma: Chroma, bits: Int, rate: Double, primaries: Int? = nil, transfer: Int? = nil
    ) {
        (self.chroma, self.bits, self.rate) = (chroma, bits, rate)
        (self.primaries, self.transfer) = (primaries, transfer)
    }

    /// The matrix of all written pictures: that of ITU-R BT.601, as used by JPEG and phones.
    static let matrix = 6

    /// The colour of the pictures' items, for pictures without a profile.
    public var colour: HEIFProperty.CodedColour {
        HEIFProperty.CodedColour(
            primaries: primaries ?? 2, transfer: transfer ?? 2, matrix: Self.matrix,
            isFullRange: true)
    }

    var sampleBytes: Int { bits > 8 ? 2 : 1 }
    /// The subsampling of chroma as a shift.
    var shift: Int { chroma == .half ? 1 : 0 }
    var planeCount: Int { chroma == .none ? 1 : 3 }

    func settings(width: Int, height: Int) -> VideoEncoder.Settings {
        var settings = VideoEncoder.Settings(
            FrameLayout(
                width: width, height: height, bits: bits, hasChroma: chroma != .none,
                chromaShift: (shift, shift), primaries: primaries, transfer: transfer,
                matrix: Self.matrix, isFullRange: true))
        settings.options = [
            ("preset", Self.preset), ("crf", "\(rate)"), ("x265-params", Self.parameters),
        ]
        return settings
    }

    /// x265's speed preset: Rendering/Encoders/MEASURED.md compares the others.
    private static let preset = "ultrafast"

    /// One thread and single pictures; no log output, and nothing in the stream but the picture.
    private static let parameters = [
        "pools=none", "frame-threads=1", "wpp=0", "total-frames=1", "rc-lookahead=0", "bframes=0",
        "keyint=1", "scenecut=0", "cutree=0",
        // The same quantiser for all tiles, whatever their content: otherwise edges between tiles would be visible.
        "qcomp=1",
        "info=0", "log-level=none", "repeat-headers=0",
    ].joined(separator: ":")
}
