import Adjustments
import Glibc

/// CIGaussianGradient: fades from one colour to another around a place.
///
///     share of the first colour = e^(−½ (3 |q − c| / r)²)
struct CIGaussianGradient: PixelFilter {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = FilterDefinition(
        name: "CIGaussianGradient",
        summary: "Fades softly from one colour to another around a place.",
        category: .gradient,
        parameters: [
            .point("inputCenter", "Where the first colour is.", default: [150, 150]),
            .number(
                "inputRadius", "Where hardly anything of it is left: three σ.", default: 300,
                0...1e7, .pixels),
        ]
            + Gradient.colours(
                "The colour in the middle.", "The colour far away.", fading: true),
        fidelity: .lookAlike,
        source: """
            Core Image documents a Gaussian and not its width; ours has σ = radius / 3, which leaves 1 % at the radius. Mixed in \
            linear light, multiplied by alpha.
            """,
        kernel: .generator { filter, _ in CIGaussianGradient(filter) })

    private let gradient: Gradient
    private let x, y, scale: Double
    var usesPosition: Bool { true }

    init(_ filter: Filter) {
        let centre = filter.vector("inputCenter")
        (x, y) = (centre[0], centre[1])
        let sigma = max(filter.number("inputRadius") / 3, 1e-3)
        scale = -0.5 / (sigma * sigma)
        gradient = Gradient(filter)
    }

    func apply(to pixels: PixelChunk) {
        let dy = pixels.y - y
        for i in 0..<pixels.count {
            let dx = pixels.x + Double(i) - x
            gradient.write(1 - Float(exp(scale * (dx * dx + dy * dy))), to: pixels, i)
        }
    }
}
