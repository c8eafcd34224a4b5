public import Boxes
import Codecs

/// The samples of a pixel that are read.
public enum HEICSamples: Sendable {
    /// Red, green and blue, the first three.
    case colour
    /// The sample at a place, as luma.
    case one(Int)
}

/// How the samples of a picture become HEVC.
public struct HEICCoding: Sendable {
    /// How much of the colour is kept.
    public enum Chroma: Int, Sendable {
        /// None: a picture of luma alone.
        case none = 0
        /// A sample for each two columns and rows, in the middle of their four pixels.
        case half = 1
        /// All of it.
        case full = 3
    }

    public var chroma: Chroma
    /// Bits of a coded sample: 8, 10 or 12.
    public var bits: Int
    /// x265's constant rate factor, 0 to 51: the quantiser of all tiles; less is better.
    public var rate: Double
    /// The colours that the stream states, beside the matrix: numbers of ITU-T H.273, or nil where a profile says it.
    public var primaries: Int?, transfer: Int?

    /// Makes a coding.
    public init(
        chroma: Chroma, bits: Int, rate: Double, primaries: Int? = nil, transfer: Int? = nil
    ) {
        (self.chroma, self.bits, self.rate) = (chroma, bits, rate)
        (self.primaries, self.transfer) = (primaries, transfer)
    }

    /// The matrix of all colours that are written: that of ITU-R BT.601, as JPEG and phones have it.
    static let matrix = 6

    /// Of the pictures' items: what the numbers mean where no profile says it.
    public var colour: HEIFProperty.CodedColour {
        HEIFProperty.CodedColour(
            primaries: primaries ?? 2, transfer: transfer ?? 2, matrix: Self.matrix,
            isFullRange: true)
    }

    var sampleBytes: Int { bits > 8 ? 2 : 1 }
    /// By how many bits planes of chroma are smaller.
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

    /// How hard x265 tries: Rendering/Encoders/MEASURED.md has what others give.
    private static let preset = "ultrafast"

    /// One thread and no picture but this one; nothing printed, and nothing in the stream but the picture.
    private static let parameters = [
        "pools=none", "frame-threads=1", "wpp=0", "total-frames=1", "rc-lookahead=0", "bframes=0",
        "keyint=1", "scenecut=0", "cutree=0",
        // One quantiser for all tiles, whatever is in them: between tiles of several ones edges would show.
        "qcomp=1",
        "info=0", "log-level=none", "repeat-headers=0",
    ].joined(separator: ":")
}
