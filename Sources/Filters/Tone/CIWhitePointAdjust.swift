import Adjustments

/// CIWhitePointAdjust: multiplies the light by a colour, which so becomes the new white.
struct CIWhitePointAdjust: PixelFilter {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = FilterDefinition(
        name: "CIWhitePointAdjust",
        summary: "Makes white become a colour, and all colours follow.",
        category: .tone,
        parameters: [
            .color(
                "inputColor", "What white becomes.", default: [1, 1, 1, 1], identity: [1, 1, 1, 1])
        ],
        fidelity: .measured(rms: 0.35),
        source: "Linear light times the colour's linear light; the colour's alpha does not count.",
        kernel: .pixel { filter, _ in CIWhitePointAdjust(filter) })

    private let white: Light

    init(_ filter: Filter) { white = filter.light("inputColor") }

    func apply(to pixels: PixelChunk) {
        for i in 0..<pixels.count {
            pixels.red[i] *= white.red
            pixels.green[i] *= white.green
            pixels.blue[i] *= white.blue
        }
    }
}
