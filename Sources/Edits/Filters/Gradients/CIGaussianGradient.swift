import Edits
import Glibc

/// CIGaussianGradient: fades from one colour to another around a place.
///
///     share of the first colour = e^(−½ (3 |q − c| / r)²)
struct CIGaussianGradient: PixelFilter {
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
    private let centre: (x: Double, y: Double)
    private let scale: Double
    private let shares: RadialTable
    var usesPosition: Bool { true }

    /// The distance, in σ, at which less than a 16-bit code of the first colour is left: e^−18.
    private static let reach = 6.0

    init(_ filter: Filter) {
        let point = filter.vector("inputCenter")
        centre = (point[0], point[1])
        let sigma = max(filter.number("inputRadius") / 3, 1e-3)
        scale = -0.5 / (sigma * sigma)
        gradient = Gradient(filter)
        shares = RadialTable(over: 0...Self.reach * sigma) { [scale] in 1 - exp(scale * $0 * $0) }
    }

    func apply(to pixels: PixelChunk) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: PixelChunk.capacity) { memory in
            guard let row = memory.baseAddress else { return }
            shares.fill(row, for: pixels, from: centre) { 1 - exp(scale * $0 * $0) }
            for i in 0..<pixels.count { gradient.write(row[i], to: pixels, i) }
        }
    }
}
