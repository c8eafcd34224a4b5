import Edits

/// CIColorControls: saturation, then contrast, then brightness, on linear light.
///
///     y = Y + (x − Y) · saturation     out = (y − ½) · contrast + ½ + brightness
enum CIColorControls {
    static let definition = FilterDefinition(
        name: "CIColorControls",
        summary: "Changes saturation, contrast and brightness.",
        category: .tone,
        parameters: [
            // Core Image documents only a maximum for brightness, 1; 10 is ours.
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
        gain: .depends { filter in
            let isSaturation =
                filter.number("inputContrast") == 1 && filter.number("inputBrightness") == 0
            return isSaturation ? .carried : .kept
        },
        light: .unlimited,
        kernel: .pixel { filter, _ in MatrixPixels(transform: transform(of: filter)) })

    private static func transform(of filter: Filter) -> ColourTransform {
        let (saturation, contrast) = (
            filter.number("inputSaturation"), filter.number("inputContrast")
        )
        let shares = Luminance.weights.map { $0 * (1 - saturation) * contrast }
        return ColourTransform(
            matrix: (0..<9).map { index in
                shares[index % 3] + (index % 4 == 0 ? saturation * contrast : 0)
            }, offset: 0.5 - 0.5 * contrast + filter.number("inputBrightness"))
    }
}
