import Adjustments
import Glibc

/// CISepiaTone: mixes each pixel with brown of its luminance.
///
///     S = (Y^0.8, Y^1.1, Y^2)     out = x + (S − x) · intensity
///
/// on linear light. Fitted to Core Image's own pixels and then rounded: RMS 1.14 of 255, where the
/// W3C sepia matrix is off by 19. Negative luminance counts as 0.
///
/// Two powers per pixel cost more than all else, so they are looked up in a table over the bits of Y
/// (``LogScale``); measured on 24 MP, one core: 81 ms by polynomials of log2 and exp2, about 25 ms
/// by tables. The error of the table is below 0.12 steps of 255.
struct SepiaTone: SummingFilter {
    private static let scale = LogScale(stepBits: 9, octavesBelowOne: 20, octavesAboveOne: 3)
    private static let redPowers = Table(scale) { Float(pow($0, 0.8)) }
    private static let greenPowers = Table(scale) { Float(pow($0, 1.1)) }

    private let intensity: Float
    private let isExact: Bool
    private let redTable: Table<Float>
    private let greenTable: Table<Float>

    init(_ filter: Filter, isExact: Bool) {
        intensity = Float(filter.value("inputIntensity"))
        self.isExact = isExact
        redTable = Self.redPowers
        greenTable = Self.greenPowers
    }

    private static let exponents = [0.8, 1.1, 2]

    func index(_ channel: Int, _ light: Double) -> Double {
        [Luminance.red, Luminance.green, Luminance.blue][channel] * light
    }

    func own(_ light: Double) -> Double { (1 - Double(intensity)) * light }

    func shared(_ channel: Int, _ index: Double) -> Double {
        Double(intensity) * pow(index, Self.exponents[channel])
    }

    func apply(to pixels: PixelChunk) {
        let count = pixels.count
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (amount, rest) = (intensity, 1 - intensity)
        let (weightR, weightG, weightB) = (
            Float(Luminance.red), Float(Luminance.green), Float(Luminance.blue)
        )
        if isExact {
            for i in 0..<count {
                let y = max(0, weightR * red[i] + weightG * green[i] + weightB * blue[i])
                red[i] = rest * red[i] + amount * powf(y, 0.8)
                green[i] = rest * green[i] + amount * powf(y, 1.1)
                blue[i] = rest * blue[i] + amount * y * y
            }
            return
        }
        let index = pixels.index
        let scale = Self.scale
        for i in 0..<count {
            let y = weightR * red[i] + weightG * green[i] + weightB * blue[i]
            index[i] = scale.index(y)
            let light = y > 0 ? y : 0
            blue[i] = rest * blue[i] + amount * (light * light)
        }
        let (redPower, greenPower) = (redTable.values, greenTable.values)
        for i in 0..<count {
            let entry = Int(truncatingIfNeeded: index[i])
            red[i] = rest * red[i] + amount * redPower[entry]
            green[i] = rest * green[i] + amount * greenPower[entry]
        }
    }
}
