/// A frame as a decoder holds it: planes of samples, valid until the decoder is used again.
public struct DecodedFrame {
    /// Rows of samples that lie one behind the other.
    public struct Plane {
        /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's order.
        public let start: UnsafeRawPointer
        /// Bytes from a row to the next one.
        public let stride: Int
        public let width: Int
        public let height: Int
    }

    /// Luma alone; or luma, blue and red difference; or, with matrix 0, green, blue and red. Alpha is left out.
    public let planes: [Plane]
    public let layout: FrameLayout
    /// Whether there was alpha, as ProRes 4444 may have.
    public let hasAlpha: Bool
    /// Whether its rows are those of two fields, in turn.
    public let isInterlaced: Bool
    /// The rank of the access unit that it came from.
    public let rank: Int
}

/// How the samples of a frame lie, and which colours they mean as far as the stream says.
public struct FrameLayout: Sendable, Equatable {
    /// Of luma, after cropping.
    public let width: Int, height: Int
    /// Bits of a sample: 8 to 16.
    public let bits: Int
    /// Whether there is chroma.
    public let hasChroma: Bool
    /// By how many bits chroma is narrower and lower: 0 or 1, or 2 for a few Motion JPEGs.
    public let chromaShift: (x: Int, y: Int)
    /// Primaries, transfer function and matrix of ITU-T H.273; nil where the stream does not say.
    public let primaries: Int?, transfer: Int?, matrix: Int?
    /// Whether codes have their full range; nil where the stream does not say.
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
