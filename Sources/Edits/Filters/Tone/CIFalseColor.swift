import Edits

/// CIFalseColor: from one colour to another by luminance.
struct CIFalseColor: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIFalseColor",
        summary: "Maps the photo's luminance to the colours between two.",
        category: .tone,
        parameters: [
            .color("inputColor0", "What black becomes.", default: [0.3, 0, 0, 1]),
            .color("inputColor1", "What white becomes.", default: [1, 0.9, 0.8, 1]),
        ],
        fidelity: .measured(rms: 0.76),
        source: "color0 + (color1 − color0) · Y in linear light; the photo's alpha stays.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CIFalseColor(filter) })

    private let dark, bright: Light

    init(_ filter: Filter) {
        dark = filter.light("inputColor0")
        bright = filter.light("inputColor1")
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        for i in 0..<pixels.count {
            let y = Luminance.of(red[i], green[i], blue[i])
            red[i] = dark.red + (bright.red - dark.red) * y
            green[i] = dark.green + (bright.green - dark.green) * y
            blue[i] = dark.blue + (bright.blue - dark.blue) * y
        }
    }
}
