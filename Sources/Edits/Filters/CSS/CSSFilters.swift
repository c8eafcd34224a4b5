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

/// css:brightness(): multiplies the encoded values.
enum CSSBrightness {
    static let definition = CSSFilter.definition(
        "css:brightness", "Brightens or darkens, as CSS does.", identity: 1,
        formula: "v · a on encoded values."
    ) { amount in
        EncodedMatrixPixels.line(slope: amount, intercept: 0)
    }
}

/// css:invert(): inverts the encoded values.
enum CSSInvert {
    static let definition = CSSFilter.definition(
        "css:invert", "Inverts the encoded values, as CSS and drawing programs do.", identity: 0,
        formula: "v + a (1 − 2v) on encoded values; beyond 1 acts as 1.", gain: .dropped
    ) { amount in
        EncodedMatrixPixels.line(slope: 1 - 2 * min(amount, 1), intercept: min(amount, 1))
    }
}

/// css:contrast(): scales the encoded values about their middle.
enum CSSContrast {
    static let definition = CSSFilter.definition(
        "css:contrast", "Changes the contrast, as CSS does.", identity: 1,
        formula: "v · a + ½ − ½ a on encoded values."
    ) { amount in
        EncodedMatrixPixels.line(slope: amount, intercept: 0.5 - 0.5 * amount)
    }
}

/// css:sepia(): shades of brown.
enum CSSSepia {
    static let definition = CSSFilter.definition(
        "css:sepia", "Maps the photo to shades of brown, as CSS does.", identity: 0,
        formula: "a matrix on encoded values; beyond 1 acts as 1."
    ) { amount in
        EncodedMatrixPixels.mixed(full, amount)
    }

    private static let full = [
        0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131,
    ]
}

/// css:grayscale(): removes the colour.
enum CSSGrayscale {
    static let definition = CSSFilter.definition(
        "css:grayscale", "Takes the colour away, as CSS does.", identity: 0,
        formula:
            "a matrix that makes luminance (0.2126, 0.7152, 0.0722) of encoded values; beyond 1 acts as 1."
    ) { amount in
        EncodedMatrixPixels.mixed(full, amount)
    }

    private static let full = [
        0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722,
    ]
}

/// css:saturate(): more or less colour.
enum CSSSaturate {
    static let definition = CSSFilter.definition(
        "css:saturate", "Changes the saturation, as CSS does.", identity: 1,
        formula: "feColorMatrix saturate on encoded values."
    ) { amount in
        EncodedMatrixPixels.matrix(matrix(amount))
    }

    private static func matrix(_ amount: Double) -> [Double] {
        let grey = [0.213, 0.715, 0.072]
        return (0..<9).map { index in
            let (row, column) = (index / 3, index % 3)
            return grey[column] * (1 - amount) + (row == column ? amount : 0)
        }
    }
}

/// css:opacity(): multiplies alpha.
struct CSSOpacity: PixelFilter {
    static let definition = CSSFilter.definition(
        "css:opacity", "Makes the photo transparent, as CSS does.", identity: 1,
        formula: """
            alpha · a; beyond 1 acts as 1. A format without alpha shows the photo laid on the output's background.
            """, gain: .dropped, light: .unlimited
    ) { amount in
        CSSOpacity(amount: Float(min(amount, 1)))
    }

    let amount: Float
    var changesAlpha: Bool { amount < 1 }

    func apply(to pixels: PixelChunk) {
        for i in 0..<pixels.count { pixels.alpha[i] *= amount }
    }
}

/// css:hue-rotate(): rotates the hues, on encoded values.
enum CSSHueRotate {
    static let definition = FilterDefinition(
        name: "css:hue-rotate",
        summary: "Turns all hues round the colour circle, as CSS does.",
        category: .css,
        parameters: [
            // CSS allows any angle; the limit of a thousand turns is ours.
            .number("angle", "How far.", default: 0, -360_000...360_000, .degrees, identity: 0)
        ],
        fidelity: .exact,
        source: "W3C Filter Effects 1: feColorMatrix hueRotate on encoded values.",
        kernel: .pixel { filter, _ in
            EncodedMatrixPixels(transforms: [
                HueRotation.matrix(angle: filter.number("angle") * .pi / 180)
            ])
        })
}
