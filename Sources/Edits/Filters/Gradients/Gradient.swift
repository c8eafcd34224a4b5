import Edits

/// A mixture of two colours by position: linear light is mixed multiplied by alpha, and divided again.
struct Gradient: Sendable {
    private let first, second: Light

    init(_ filter: Filter) {
        first = filter.light("inputColor0")
        second = filter.light("inputColor1")
    }

    /// Writes the mixture with `share` of the second colour, 0 to 1.
    @inline(__always)
    func write(_ share: Float, to pixels: PixelChunk, _ index: Int) {
        let (a, b) = (first.alpha * (1 - share), second.alpha * share)
        let alpha = a + b
        let factor = alpha > 0 ? 1 / alpha : 0
        pixels.red[index] = (first.red * a + second.red * b) * factor
        pixels.green[index] = (first.green * a + second.green * b) * factor
        pixels.blue[index] = (first.blue * a + second.blue * b) * factor
        pixels.alpha[index] = alpha
    }

    /// The two colours' parameters.
    static func colours(_ first: String, _ second: String, fading: Bool = false)
        -> [ParameterDefinition]
    {
        [
            .color("inputColor0", first, default: [1, 1, 1, 1]),
            .color("inputColor1", second, default: [0, 0, 0, fading ? 0 : 1]),
        ]
    }
}
