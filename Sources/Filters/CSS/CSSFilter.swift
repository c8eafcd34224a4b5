import Adjustments

/// What the CSS functions of W3C Filter Effects 1 have in common.
///
/// They work on sRGB-encoded values that are not multiplied by alpha, and the result is clamped to 0 to 1
/// after every function. How near they come to a browser's pixels stands in `CHROMIUM.md` beside this file.
enum CSSFilter {
    /// The definition of a function with an amount.
    static func definition(
        _ name: String, _ summary: String, default defaultValue: Double = 1,
        identity: Double, formula: String,
        gain: GainRule? = nil, light: LightRule = .upToWhite,
        _ make: @escaping @Sendable (Double) -> any PixelFilter
    ) -> FilterDefinition {
        FilterDefinition(
            name: name, summary: summary, category: .css,
            parameters: [
                // CSS names no maximum; 1000 is ours. Beyond 1 some act as for 1, as CSS has it.
                .number(
                    "amount", "How much: 1 is 100 %.", default: defaultValue, 0...1000,
                    identity: identity)
            ],
            fidelity: .exact, source: "W3C Filter Effects 1: \(formula)",
            gain: gain, light: light, kernel: .pixel { filter, _ in make(filter.number("amount")) })
    }
}

extension EncodedMatrixPixels {
    /// A matrix of nine numbers, row by row.
    static func matrix(_ matrix: [Double]) -> EncodedMatrixPixels {
        EncodedMatrixPixels(transforms: [ColourTransform(matrix: matrix)])
    }

    /// From no change to a matrix, as grayscale and sepia go: an amount beyond 1 acts as 1.
    static func mixed(_ full: [Double], _ amount: Double) -> EncodedMatrixPixels {
        let share = min(amount, 1)
        return .matrix(
            full.enumerated().map { place, number in
                (place.isMultiple(of: 4) ? 1 - share : 0) + share * number
            })
    }

    /// A straight line for each channel.
    static func line(slope: Double, intercept: Double) -> EncodedMatrixPixels {
        EncodedMatrixPixels(transforms: [ColourTransform(scale: slope, offset: intercept)])
    }
}
