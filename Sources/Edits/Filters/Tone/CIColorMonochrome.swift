import Edits

/// CIColorMonochrome: overlays a colour on the photo's luminance.
///
///     M = Y < ½ ? 2 Y c : 1 − 2 (1 − Y)(1 − c)     out = x + (M − x) · intensity
struct CIColorMonochrome: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorMonochrome",
        summary: "Maps the photo to shades of one colour.",
        category: .tone,
        parameters: [
            .color("inputColor", "The colour of middle grey.", default: [0.6, 0.45, 0.3, 1]),
            // Core Image documents no maximum; 10 is ours, far beyond the slider's 1.
            .number(
                "inputIntensity", "0 leaves the photo as it is, 1 is one colour only.", default: 1,
                0...10, identity: 0),
        ],
        fidelity: .measured(rms: 1.07),
        source: """
            The colour overlaid by luminance, in linear light; black and white stay. GPUImageMonochrome is the same on \
            encoded values.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIColorMonochrome(filter) })

    private let color: Light
    private let intensity: Float

    init(_ filter: Filter) {
        color = filter.light("inputColor")
        intensity = Float(filter.number("inputIntensity"))
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (amount, rest) = (intensity, 1 - intensity)
        for i in 0..<pixels.count {
            let y = Luminance.of(red[i], green[i], blue[i])
            // Both halves of the overlay are base + slope · c.
            let slope = y < 0.5 ? 2 * y : 2 * (1 - y)
            let base = y < 0.5 ? 0 : 2 * y - 1
            red[i] = rest * red[i] + amount * (base + slope * color.red)
            green[i] = rest * green[i] + amount * (base + slope * color.green)
            blue[i] = rest * blue[i] + amount * (base + slope * color.blue)
        }
    }
}
