import Edits
import Glibc

/// CISepiaTone: mixes each pixel with a brown of its luminance.
///
///     S = (Y^0.8, Y^1.1, Y^2)     out = x + (S − x) · intensity
struct CISepiaTone: PixelFilter {
    static let definition = FilterDefinition(
        name: "CISepiaTone",
        summary: "Maps the photo to shades of brown.",
        category: .tone,
        parameters: [
            // Core Image documents no maximum; 10 is ours, far beyond the slider's 1.
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
        light: .unlimited,
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
        let (scale, count) = (self.red.scale, pixels.count)
        let (amount, rest) = (intensity, 1 - intensity)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * PixelChunk.capacity) { memory in
            guard let brown = memory.baseAddress else { return }
            let luminance = brown + PixelChunk.capacity
            for i in 0..<count { luminance[i] = Luminance.of(red[i], green[i], blue[i]) }
            TablePositions.with { positions in
                scale.fill(positions, for: luminance, count: count)
                positions.lookUp(redPower, into: brown, count: count)
                for i in 0..<count { red[i] = rest * red[i] + amount * brown[i] }
                positions.lookUp(greenPower, into: brown, count: count)
                for i in 0..<count { green[i] = rest * green[i] + amount * brown[i] }
            }
            for i in 0..<count {
                let light = luminance[i] > 0 ? luminance[i] : 0
                blue[i] = rest * blue[i] + amount * (light * light)
            }
        }
    }
}
