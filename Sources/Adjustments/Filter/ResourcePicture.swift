/// A picture that an edit names by its digest: a watermark or a mask.
public struct ResourcePicture: Sendable {
    /// Its size, upright.
    public let size: PixelSize
    /// Red, green, blue and alpha of each pixel, top row first: sRGB-encoded, not multiplied by alpha.
    public let codes: [UInt8]

    /// Most pixels, as stored and as used: 64 MB of codes.
    public static let pixelsMax = 16 << 20

    /// In which size a filter wants one.
    public enum Fit: Sendable {
        /// So much larger than it is.
        case scaled(Double)
        /// As it is, but no larger than this.
        case within(PixelSize)
    }

    /// Makes a picture of `size.pixels` × 4 codes.
    public init(size: PixelSize, codes: [UInt8]) {
        precondition(codes.count == 4 * size.pixels, "\(codes.count) codes for \(size)")
        self.size = size
        self.codes = codes
    }
}
