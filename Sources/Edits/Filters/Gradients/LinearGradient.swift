import Edits

/// CILinearGradient and CISmoothLinearGradient: from one colour to another along a line.
///
///     t = clamp((q − p₀)·(p₁ − p₀) / |p₁ − p₀|²)      smooth: t² (3 − 2t)
struct LinearGradient: PixelFilter {
    private let gradient: Gradient
    private let x, y, dx, dy: Double
    private let isSmooth: Bool
    var usesPosition: Bool { true }

    static let parameters: [ParameterDefinition] =
        [
            .point("inputPoint0", "Where the first colour ends.", default: [0, 0]),
            .point("inputPoint1", "Where the second colour begins.", default: [200, 200]),
        ]
        + Gradient.colours(
            "The colour before the first point.", "The colour after the second point.")

    init(_ filter: Filter, isSmooth: Bool) throws(Failure) {
        let (from, to) = (filter.vector("inputPoint0"), filter.vector("inputPoint1"))
        let (width, height) = (to[0] - from[0], to[1] - from[1])
        let square = width * width + height * height
        guard square > 0 else {
            throw Failure(
                .invalidValue,
                "\(filter.name)'s two points are both \(from); expected two places, between which the "
                    + "colour changes.")
        }
        gradient = Gradient(filter)
        (x, y) = (from[0], from[1])
        (dx, dy) = (width / square, height / square)
        self.isSmooth = isSmooth
    }

    func apply(to pixels: PixelChunk) {
        let start = (pixels.x - x) * dx + (pixels.y - y) * dy
        for i in 0..<pixels.count {
            let t = Float(min(max(start + Double(i) * dx, 0), 1))
            gradient.write(isSmooth ? t * t * (3 - 2 * t) : t, to: pixels, i)
        }
    }
}
