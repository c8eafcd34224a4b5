extension JPEGHeader {
    /// The quality, 1 to 100, whose luma table of the Independent JPEG Group is nearest to the photo's; most programs use this
    /// scale. Nil without a table.
    ///
    /// It is an estimate, because cameras have tables of their own.
    public var estimatedQuality: Int? {
        guard let steps = steps.first, steps.contains(where: { $0 > 0 }) else { return nil }
        func distance(_ quality: Int) -> Int {
            zip(steps, Self.lumaSteps).reduce(0) { sum, pair in
                sum + abs(Int(pair.0) - Self.scaled(pair.1, quality: quality))
            }
        }
        return (1...100).min { distance($0) < distance($1) }
    }

    /// Scales a step like libjpeg's `jpeg_quality_scaling` and `jpeg_add_quant_table`.
    private static func scaled(_ step: Int, quality: Int) -> Int {
        let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
        return min(max((step * percent + 50) / 100, 1), 255)
    }

    /// ITU-T T.81, table K.1.
    private static let lumaSteps = [
        16, 11, 10, 16, 24, 40, 51, 61,
        12, 12, 14, 19, 26, 58, 60, 55,
        14, 13, 16, 24, 40, 57, 69, 56,
        14, 17, 22, 29, 51, 87, 80, 62,
        18, 22, 37, 56, 68, 109, 103, 77,
        24, 35, 55, 64, 81, 104, 113, 92,
        49, 64, 78, 87, 103, 121, 120, 101,
        72, 92, 95, 98, 112, 100, 103, 99,
    ]
}
