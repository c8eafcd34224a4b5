import Adjustments

/// CIVibrance: changes saturation, but spares hues of skin and, when it adds, colours that are saturated.
///
///     A = (R + G + B) / 3     out = A + (x − A) · k
///
/// What k is was looked up in Core Image's pixels for amount −1: 0.32 − 0.14 D for most hues, 0.84 for
/// hues of skin, which reach further for pale colours than for strong ones. D is the difference of the
/// largest and the smallest encoded channel. For amounts above 0 there was nothing to look at: k is then
/// 1 + amount · (1 − D)(1 − 0.7 skin).
struct CIVibrance: PixelFilter {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

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
        kernel: .pixel { filter, _ in CIVibrance(filter) })

    private let amount: Float

    init(_ filter: Filter) { amount = Float(filter.number("inputAmount")) }

    func apply(to pixels: PixelChunk) {
        guard amount != 0 else { return }
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * PixelChunk.capacity) {
            buffer in
            guard let encoded = buffer.baseAddress else { return }
            for (index, plane) in pixels.colours.enumerated() {
                let copy = encoded + index * PixelChunk.capacity
                copy.update(from: plane, count: pixels.count)
                LightCurve.encoding.applySigned(to: copy, count: pixels.count)
            }
            for i in 0..<pixels.count {
                let k = factor(
                    encoded[i], encoded[PixelChunk.capacity + i],
                    encoded[2 * PixelChunk.capacity + i])
                let mean = (red[i] + green[i] + blue[i]) / 3
                red[i] = mean + (red[i] - mean) * k
                green[i] = mean + (green[i] - mean) * k
                blue[i] = mean + (blue[i] - mean) * k
            }
        }
    }

    /// By what a colour's distance from grey is multiplied.
    private func factor(_ red: Float, _ green: Float, _ blue: Float) -> Float {
        let difference = max(red, green, blue) - min(red, green, blue)
        let depth = min(difference, 1)
        let skin = Self.skin(Self.hue(red, green, blue, difference), depth)
        guard amount < 0 else { return 1 + amount * (1 - depth) * (1 - 0.7 * skin) }
        let base = 0.32 - 0.14 * depth
        return 1 + amount * (1 - (base + (0.84 - base) * skin))
    }

    /// Degrees from red by way of yellow, −90 to 270.
    private static func hue(_ red: Float, _ green: Float, _ blue: Float, _ difference: Float)
        -> Float
    {
        guard difference > 0 else { return 0 }
        if red >= green, red >= blue { return (green - blue) / difference * 60 }
        if green >= blue { return (blue - red) / difference * 60 + 120 }
        let hue = (red - green) / difference * 60 + 240
        return hue > 270 ? hue - 360 : hue
    }

    /// 1 for hues of skin, 0 for others.
    private static func skin(_ hue: Float, _ depth: Float) -> Float {
        let pale = 1 - depth
        let rise = smooth((hue - (24 - 35 * pale)) / 11)
        let fall = smooth((hue - (35 + 24 * pale)) / 14)
        return rise * (1 - fall)
    }

    private static func smooth(_ place: Float) -> Float {
        let t = min(max(place, 0), 1)
        return t * t * (3 - 2 * t)
    }
}
