import Adjustments
import Glibc

/// CISepiaTone: mixes each pixel with brown of its luminance.
///
///     S = (Y^0.8, Y^1.1, Y^2)     out = x + (S − x) · intensity
struct CISepiaTone: PixelFilter {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = FilterDefinition(
        name: "CISepiaTone",
        summary: "Maps the photo to shades of brown.",
        category: .tone,
        parameters: [
            // Core Image names no maximum; 10 is ours, far beyond the slider's 1.
            .number(
                "inputIntensity", "0 leaves the photo as it is, 1 is full sepia.", default: 1,
                0...10, identity: 0)
        ],
        fidelity: .measured(rms: 1.14),
        source: """
            Exponents fitted to Core Image's own pixels and then rounded; the W3C sepia matrix is off by 19. \
            Negative luminance counts as 0.
            """,
        gain: .kept,
        kernel: .pixel { filter, _ in CISepiaTone(filter) })

    private static let redPower = LightCurve { pow($0, 0.8) }
    private static let greenPower = LightCurve { pow($0, 1.1) }

    private let intensity: Float
    private let red = Self.redPower
    private let green = Self.greenPower

    init(_ filter: Filter) { intensity = Float(filter.number("inputIntensity")) }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (redPower, greenPower) = (self.red.table.values, self.green.table.values)
        let scale = self.red.scale
        let (amount, rest) = (intensity, 1 - intensity)
        for i in 0..<pixels.count {
            let y = Luminance.of(red[i], green[i], blue[i])
            let (entry, part) = scale.position(y)
            let light = y > 0 ? y : 0
            let brownR = redPower[2 * entry] + redPower[2 * entry + 1] * part
            let brownG = greenPower[2 * entry] + greenPower[2 * entry + 1] * part
            red[i] = rest * red[i] + amount * brownR
            green[i] = rest * green[i] + amount * brownG
            blue[i] = rest * blue[i] + amount * (light * light)
        }
    }
}
