/// A picture that an edit names by its digest: a watermark or a mask.
public struct ResourcePicture: Sendable {
    /// Its size, upright.
    public let size: PixelSize
    /// Red, green, blue and alpha of each pixel, top row first: sRGB-encoded, not multiplied by alpha.
    public let codes: [UInt8]

    /// The most pixels, as stored and as used: 64 MB of codes.
    public static let pixelsMax = 16 << 20

    /// The size that a filter requests.
    public enum Fit: Sendable {
        /// Scaled by this factor.
        case scaled(Double)
        /// Its own size, but no larger than this.
        case within(PixelSize)
    }

    /// Makes a picture of `size.pixels` × 4 codes.
    public init(size: PixelSize, codes: [UInt8]) {
        precondition(codes.count == 4 * size.pixels, "\(codes.count) codes for \(size)")
        self.size = size
        self.codes = codes
    }
}
