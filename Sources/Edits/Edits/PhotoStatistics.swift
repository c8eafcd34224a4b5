/// Statistics of a whole photo: the distribution of its tones, and its colourfulness.
///
/// Computed from a small copy; all numbers are sRGB-encoded, 0 to 1.
public struct PhotoStatistics: Sendable, Equatable {
    /// The number of pixels by luma in 256 steps.
    private let histogram: [Int]
    private let pixels: Int
    /// The mean of (largest − smallest channel).
    public let meanSaturation: Double

    /// Counts pixels.
    ///
    /// - Parameter codes: red, green and blue of each pixel, 8 bit sRGB; at least one pixel.
    public init(codes: [UInt8]) {
        precondition(codes.count >= 3, "statistics need a pixel")
        var histogram = [Int](repeating: 0, count: 256)
        var saturation = 0
        for pixel in stride(from: 0, through: codes.count - 3, by: 3) {
            let (red, green, blue) = (
                Int(codes[pixel]), Int(codes[pixel + 1]), Int(codes[pixel + 2])
            )
            // ITU-R BT.601 luma in thousandths, as in JPEG.
            histogram[(299 * red + 587 * green + 114 * blue + 500) / 1000] += 1
            saturation += max(red, green, blue) - min(red, green, blue)
        }
        self.histogram = histogram
        pixels = codes.count / 3
        meanSaturation = Double(saturation) / Double(255 * pixels)
    }

    /// Returns the luma below which the given share of the pixels lies.
    ///
    /// - Parameter share: 0 to 1.
    public func luma(below share: Double) -> Double {
        let wanted = share * Double(pixels)
        var count = 0
        for (code, number) in histogram.enumerated() {
            count += number
            if Double(count) >= wanted, count > 0 { return Double(code) / 255 }
        }
        return 1
    }

    /// Returns the share of pixels whose luma is at least this.
    public func share(from luma: Double) -> Double {
        let first = min(max(Int((luma * 255).rounded(.up)), 0), 255)
        return Double(histogram[first...].reduce(0, +)) / Double(pixels)
    }
}
