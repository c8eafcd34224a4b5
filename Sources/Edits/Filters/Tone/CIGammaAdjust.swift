import Edits
import Glibc

/// CIGammaAdjust: x^power on linear light; negative light keeps its sign.
struct CIGammaAdjust: FusiblePixels {
    static let definition = FilterDefinition(
        name: "CIGammaAdjust",
        summary: "Brightens or darkens the middle tones.",
        category: .tone,
        parameters: [
            // Core Image documents no limits; the slider goes from 0.25 to 4. Beyond 10, the error of the power's table would
            // exceed a 16-bit code.
            .number(
                "inputPower", "Below 1 brightens, above 1 darkens.", default: 1, 0.1...10,
                identity: 1)
        ],
        fidelity: .measured(rms: 1.03),
        source: """
            x^power on linear light, black and white stay. Documented by Apple. The default was 0.75 in older systems.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIGammaAdjust(filter) })

    private let exponent: Double
    private let power: LightCurve

    var form: PixelForm? {
        .curve { [exponent] light in
            let power = pow(abs(light), exponent)
            return light < 0 ? -power : power
        }
    }

    init(_ filter: Filter) {
        let exponent = filter.number("inputPower")
        self.exponent = exponent
        power = LightCurve { pow($0, exponent) }
    }

    func apply(to pixels: PixelChunk) {
        for plane in pixels.colours { power.applySigned(to: plane, count: pixels.count) }
    }
}
