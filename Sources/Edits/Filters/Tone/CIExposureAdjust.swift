import Edits
import Glibc

/// CIExposureAdjust: x · 2^EV on linear light, like a longer or shorter exposure.
enum CIExposureAdjust {
    static let definition = FilterDefinition(
        name: "CIExposureAdjust",
        summary: "Exposes the photo more or less.",
        category: .tone,
        parameters: [
            // Core Image documents no limits; these are the slider's.
            .number(
                "inputEV", "Doublings of the light; negative ones halve it.", default: 0,
                -10...10, .stops, identity: 0)
        ],
        fidelity: .measured(rms: 1.24),
        source: "x · 2^EV on linear light. Documented by Apple.",
        gain: .depends { $0.number("inputEV") > 0 ? .recomputed : .carried },
        light: .unlimited,
        kernel: .pixel { filter, _ in
            MatrixPixels(transform: ColourTransform(scale: exp2(filter.number("inputEV"))))
        })
}
