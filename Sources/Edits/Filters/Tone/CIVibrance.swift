import Edits

/// CIVibrance: changes saturation, but protects skin tones and, when it adds saturation, already saturated colours.
///
///     A = (R + G + B) / 3     out = A + (x − A) · k
///
/// k was determined from Core Image's pixels for amount −1: 0.32 − 0.14 D for most hues, 0.84 for skin tones, whose range of hues
/// is wider for pale colours than for strong ones. D is the difference of the largest and the smallest encoded channel. For amounts
/// above 0 no pixels were available; there, k is 1 + amount · (1 − D)(1 − 0.7 skin).
struct CIVibrance: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIVibrance",
        summary: "Saturates pale colours and spares skin, or takes colour away.",
        category: .tone,
        parameters: [
            .number(
                "inputAmount", "Above 0 adds colour, below 0 takes it away.", default: 0, -1...1,
                identity: 0)
        ],
        fidelity: .lookAlike,
        source: """
            That each channel moves away from the mean of all three was measured; by how much is a fit to Core Image's \
            pixels for amount -1 (RMS 7 of 255; leaving the photo as it is is off by 67), and ours above 0.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIVibrance(filter) })

    private let amount: Float

    init(_ filter: Filter) { amount = Float(filter.number("inputAmount")) }

    func apply(to pixels: PixelChunk) {
        guard amount != 0 else { return }
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * PixelChunk.capacity) {
            buffer in
            guard let encoded = buffer.baseAddress else { return }
            for (index, plane) in pixels.colours.enumerated() {
                let copy = encoded + index * PixelChunk.capacity
                copy.update(from: plane, count: pixels.count)
                LightCurve.encoding.applySigned(to: copy, count: pixels.count)
            }
            if amount < 0 { reduce(from: pixels, encoded) } else { add(to: pixels, encoded) }
        }
    }

    private func add(to pixels: PixelChunk, _ encoded: UnsafePointer<Float>) {
        let amount = amount
        Self.spread(pixels, encoded) { depth, skin in
            1 + amount * (1 - depth) * (1 - 0.7 * skin)
        }
    }

    private func reduce(from pixels: PixelChunk, _ encoded: UnsafePointer<Float>) {
        let amount = amount
        Self.spread(pixels, encoded) { depth, skin in
            let base = 0.32 - 0.14 * depth
            return 1 + amount * (1 - (base + (0.84 - base) * skin))
        }
    }

    /// Multiplies each colour's distance from grey by a factor.
    ///
    /// Without branches: all hues are computed and one is selected, so that the compiler vectorizes the loop. A photo's colours are
    /// unpredictable for a branch predictor: with branches it took three times as long.
    ///
    /// - Parameter encoded: planes of the colours' encoded values, ``PixelChunk/capacity`` apart.
    @inline(__always)
    private static func spread(
        _ pixels: PixelChunk, _ encoded: UnsafePointer<Float>,
        by factor: (_ depth: Float, _ skin: Float) -> Float
    ) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (reds, greens, blues) = (
            encoded, encoded + PixelChunk.capacity, encoded + 2 * PixelChunk.capacity
        )
        for i in 0..<pixels.count {
            let (r, g, b) = (reds[i], greens[i], blues[i])
            let most = larger(larger(r, g), b)
            let difference = most - smaller(smaller(r, g), b)
            let depth = smaller(difference, 1)
            let skin = skin(hue(r, g, b, most, difference), depth)
            let k = factor(depth, skin)
            let mean = (red[i] + green[i] + blue[i]) / 3
            red[i] = mean + (red[i] - mean) * k
            green[i] = mean + (green[i] - mean) * k
            blue[i] = mean + (blue[i] - mean) * k
        }
    }

    /// Returns degrees from red via yellow, −90 to 270; 0 for greys.
    @inline(__always)
    private static func hue(
        _ red: Float, _ green: Float, _ blue: Float, _ most: Float, _ difference: Float
    ) -> Float {
        let scale = 60 / (difference > 0 ? difference : 1)
        let fromBlue = (red - green) * scale + 240
        let nearBlue = fromBlue > 270 ? fromBlue - 360 : fromBlue
        let nearGreen = (blue - red) * scale + 120
        let other = green >= blue ? nearGreen : nearBlue
        return red == most ? (green - blue) * scale : other
    }

    /// Returns 1 for hues of skin, 0 for others.
    @inline(__always)
    private static func skin(_ hue: Float, _ depth: Float) -> Float {
        let pale = 1 - depth
        let rise = smooth((hue - (24 - 35 * pale)) * (1 / 11))
        let fall = smooth((hue - (35 + 24 * pale)) * (1 / 14))
        return rise * (1 - fall)
    }

    @inline(__always)
    private static func smooth(_ position: Float) -> Float {
        let t = smaller(larger(position, 0), 1)
        return t * t * (3 - 2 * t)
    }

    // Like min and max, which are calls that prevent vectorization.
    @inline(__always) private static func smaller(_ a: Float, _ b: Float) -> Float { a < b ? a : b }
    @inline(__always) private static func larger(_ a: Float, _ b: Float) -> Float { a > b ? a : b }
}
