import Edits

/// CIWhitePointAdjust: multiplies the light by a colour, which becomes the new white.
enum CIWhitePointAdjust {
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
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { filter, _ in
            let white = filter.light("inputColor")
            let (red, green, blue) = (Double(white.red), Double(white.green), Double(white.blue))
            return MatrixPixels(
                transform: ColourTransform(matrix: [red, 0, 0, 0, green, 0, 0, 0, blue]))
        })
}
