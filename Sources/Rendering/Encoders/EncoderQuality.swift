import Edits

/// The meaning of `quality` for each encoder: as good, by SSIM, as a JPEG of that quality.
///
/// The table was measured by `ops/bench/quality` on ten photos (JPEG, HEIC; 2 to 33 MP, halved) with our settings and the encoders
/// of Debian 12. For qualities of JPEG, it lists the quality of each other encoder with equal SSIM of luma. Values between its
/// entries are interpolated linearly.
/// by straight lines.
enum EncoderQuality {
    private static let jpeg: [Double] = [0, 10, 30, 50, 60, 70, 80, 85, 90, 95, 98, 100]
    private static let others: [Recipe.Format: [Double]] = [
        .webp: [0, 1, 20, 44, 57, 75, 82, 87, 91, 96, 100, 100],
        .avif: [0, 15, 41, 52, 56, 62, 73, 79, 85, 92, 97, 100],
        // Below 5, libvips asks libjxl for a distance above its maximum of 25, and libjxl then uses 1, a high quality.
        .jxl: [5, 5, 27, 61, 67, 75, 83, 87, 91, 95, 98, 100],
    ]

    /// x265's constant rate factors, with our settings, measured on twelve photos: lower is better.
    private static let rates: [Double] = [
        51, 45.5, 34.3, 30, 28.5, 26.3, 23.6, 21.8, 19.1, 14.6, 9.1, 4,
    ]

    /// Returns x265's constant rate factor.
    ///
    /// - Parameter quality: 0 to 1.
    static func rate(_ quality: Double) -> Double { number(quality * 100, rates) }

    /// Returns the encoder's own quality, 1 to 100. Some encoders give 0 another meaning.
    ///
    /// - Parameter quality: 0 to 1.
    static func of(_ quality: Double, _ format: Recipe.Format) -> Int {
        let wanted = quality * 100
        return max(1, Int(number(wanted, others[format] ?? jpeg).rounded()))
    }

    private static func number(_ wanted: Double, _ numbers: [Double]) -> Double {
        let above = max(1, jpeg.firstIndex { $0 >= wanted } ?? jpeg.count - 1)
        let share = (wanted - jpeg[above - 1]) / (jpeg[above] - jpeg[above - 1])
        return numbers[above - 1] + share * (numbers[above] - numbers[above - 1])
    }
}
