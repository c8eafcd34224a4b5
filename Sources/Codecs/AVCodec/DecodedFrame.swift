import CCodecs

/// A decoded frame in the decoder's memory: planes of samples, valid until the decoder is used again.
public struct DecodedFrame {
    /// Rows of samples at a constant stride.
    public struct Plane {
        /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's byte order.
        public let start: UnsafeRawPointer
        /// Bytes from one row to the next.
        public let stride: Int
        public let width: Int
        public let height: Int
    }

    /// Luma only; or luma, blue and red difference; or, with matrix 0, green, blue and red. Alpha is omitted.
    public let planes: [Plane]
    public let layout: FrameLayout
    /// The light that the frame was made for.
    public let light: LightMetadata
    /// Whether the frame had alpha, as ProRes 4444 may have.
    public let hasAlpha: Bool
    /// Whether its rows alternate between two fields.
    public let isInterlaced: Bool
    /// The rank of its access unit.
    public let rank: Int
}

/// A decoded frame that is valid for the life of this object, whatever its decoder does.
///
/// Not thread-safe.
public final class KeptFrame {
    public let frame: DecodedFrame
    private let memory: OpaquePointer

    init(_ frame: DecodedFrame, _ memory: OpaquePointer) {
        (self.frame, self.memory) = (frame, memory)
    }

    deinit { minilab_kept_frame_free(memory) }
}

/// The layout of a frame's samples, and the colours that the stream declares.
public struct FrameLayout: Sendable, Equatable {
    /// The size of luma, after cropping.
    public let width: Int, height: Int
    /// Bits of a sample: 8 to 16.
    public let bits: Int
    /// Whether there is chroma.
    public let hasChroma: Bool
    /// The subsampling of chroma as shifts of columns and rows: 0 or 1, or 2 for a few Motion JPEGs.
    public let chromaShift: (x: Int, y: Int)
    /// Primaries, transfer function and matrix of ITU-T H.273; nil if the stream does not declare them.
    public let primaries: Int?, transfer: Int?, matrix: Int?
    /// Whether codes have full range; nil if the stream does not declare it.
    public let isFullRange: Bool?

    public static func == (a: FrameLayout, b: FrameLayout) -> Bool {
        a.width == b.width && a.height == b.height && a.bits == b.bits
            && a.hasChroma == b.hasChroma && a.chromaShift == b.chromaShift
            && a.primaries == b.primaries && a.transfer == b.transfer && a.matrix == b.matrix
            && a.isFullRange == b.isFullRange
    }

    /// Makes a layout.
    public init(
        width: Int, height: Int, bits: Int = 8, hasChroma: Bool = true,
        chromaShift: (x: Int, y: Int) = (1, 1), primaries: Int? = nil, transfer: Int? = nil,
        matrix: Int? = nil, isFullRange: Bool? = nil
    ) {
        (self.width, self.height, self.bits) = (width, height, bits)
        (self.hasChroma, self.chromaShift) = (hasChroma, chromaShift)
        (self.primaries, self.transfer) = (primaries, transfer)
        (self.matrix, self.isFullRange) = (matrix, isFullRange)
    }

    /// Bytes of a sample.
    public var sampleBytes: Int { bits > 8 ? 2 : 1 }
}
