import Edits

/// The common part of the CSS functions of W3C Filter Effects 1.
///
/// They operate on sRGB-encoded values that are not multiplied by alpha, and the result is clamped to 0 to 1 after every function.
/// `CHROMIUM.md` beside this file compares them with a browser's pixels.
enum CSSFilter {
    /// Returns the definition of a function with an amount.
    static func definition(
        _ name: String, _ summary: String, default defaultValue: Double = 1,
        identity: Double, formula: String,
        gain: GainRule? = nil, light: LightRule = .upToWhite,
        _ make: @escaping @Sendable (Double) -> any PixelFilter
    ) -> FilterDefinition {
        FilterDefinition(
            name: name, summary: summary, category: .css,
            parameters: [
                // CSS defines no maximum; 1000 is ours. For some functions, an amount beyond 1 acts as 1, as CSS requires.
                .number(
                    "amount", "How much: 1 is 100 %.", default: defaultValue, 0...1000,
                    identity: identity)
            ],
            fidelity: .exact, source: "W3C Filter Effects 1: \(formula)",
            gain: gain, light: light, kernel: .pixel { filter, _ in make(filter.number("amount")) })
    }
}

extension EncodedMatrixPixels {
    /// Returns a filter for a matrix of nine numbers, row by row.
    static func matrix(_ matrix: [Double]) -> EncodedMatrixPixels {
        EncodedMatrixPixels(transforms: [ColourTransform(matrix: matrix)])
    }

    /// Interpolates from the identity to a matrix, as grayscale and sepia do: an amount beyond 1 acts as 1.
    static func mixed(_ full: [Double], _ amount: Double) -> EncodedMatrixPixels {
        let share = min(amount, 1)
        return .matrix(
            full.enumerated().map { index, number in
                (index.isMultiple(of: 4) ? 1 - share : 0) + share * number
            })
    }

    /// Returns a linear function for each channel.
    static func line(slope: Double, intercept: Double) -> EncodedMatrixPixels {
        EncodedMatrixPixels(transforms: [ColourTransform(scale: slope, offset: intercept)])
    }
}
