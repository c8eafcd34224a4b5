import Edits

/// CIRadialGradient: from one colour within a circle to another outside of a larger one.
///
///     t = clamp((|q − c| − r₀) / (r₁ − r₀))
struct CIRadialGradient: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIRadialGradient",
        summary: "From one colour within a circle to another outside of a second circle.",
        category: .gradient,
        parameters: [
            .point("inputCenter", "The middle of both circles.", default: [150, 150]),
            .number(
                "inputRadius0", "Where the first colour ends.", default: 5, 0...1e7, .pixels),
            .number(
                "inputRadius1", "Where the second colour begins; it may be the smaller circle.",
                default: 100, 0...1e7, .pixels),
        ] + Gradient.colours("The colour at the first circle.", "The colour at the second circle."),
        fidelity: .exact,
        source:
            "Mixed in linear light, multiplied by alpha; Core Image's published formula. Equal radii make an edge.",
        kernel: .generator { filter, _ in CIRadialGradient(filter) })

    private let gradient: Gradient
    private let x, y, radius, width: Double
    var usesPosition: Bool { true }

    init(_ filter: Filter) {
        let centre = filter.vector("inputCenter")
        (x, y) = (centre[0], centre[1])
        radius = filter.number("inputRadius0")
        let rise = filter.number("inputRadius1") - radius
        // A tiny width instead of 0 avoids 0 / 0.
        width = rise == 0 ? 1e-6 : rise
        gradient = Gradient(filter)
    }

    func apply(to pixels: PixelChunk) {
        let dy = pixels.y - y
        for i in 0..<pixels.count {
            let dx = pixels.x + Double(i) - x
            let distance = (dx * dx + dy * dy).squareRoot()
            gradient.write(Float(min(max((distance - radius) / width, 0), 1)), to: pixels, i)
        }
    }
}
