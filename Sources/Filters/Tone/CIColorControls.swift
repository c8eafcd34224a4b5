import Adjustments

/// CIColorControls: saturation, then contrast, then brightness, on linear light.
///
///     y = Y + (x − Y) · saturation     out = (y − ½) · contrast + ½ + brightness
struct CIColorControls: PixelFilter {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = FilterDefinition(
        name: "CIColorControls",
        summary: "Changes saturation, contrast and brightness.",
        category: .tone,
        parameters: [
            // Core Image names no maxima but brightness' 1; 10 is ours.
            .number(
                "inputSaturation", "0 is grey, 1 leaves the colours.", default: 1, 0...10,
                identity: 1),
            .number(
                "inputBrightness", "Added to the linear light, last.", default: 0, -1...1,
                identity: 0),
            .number(
                "inputContrast", "Spreads the light from its middle, ½.", default: 1, 0...10,
                identity: 1),
        ],
        fidelity: .measured(rms: 1.08),
        source: """
            Saturation, contrast, brightness, in this order, on linear light: brightness before contrast is off by 157.
            """,
        kernel: .pixel { filter, _ in CIColorControls(filter) })

    private let saturation, contrast, offset: Float

    init(_ filter: Filter) {
        saturation = Float(filter.number("inputSaturation"))
        contrast = Float(filter.number("inputContrast"))
        offset = Float(
            0.5 - 0.5 * filter.number("inputContrast") + filter.number("inputBrightness"))
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (colour, grey) = (saturation * contrast, (1 - saturation) * contrast)
        for i in 0..<pixels.count {
            let rest = grey * Luminance.of(red[i], green[i], blue[i]) + offset
            red[i] = colour * red[i] + rest
            green[i] = colour * green[i] + rest
            blue[i] = colour * blue[i] + rest
        }
    }
}
