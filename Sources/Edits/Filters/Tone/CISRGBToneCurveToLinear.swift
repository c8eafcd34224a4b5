import Edits

/// CISRGBToneCurveToLinear: the sRGB decoding, applied on top of the linear working values.
struct CISRGBToneCurveToLinear: FusiblePixels {
    static let definition = FilterDefinition(
        name: "CISRGBToneCurveToLinear",
        summary: "Takes linear light for values that are still encoded, which darkens.",
        category: .tone,
        fidelity: .measured(rms: 0.04),
        source: "IEC 61966-2-1 turned round, applied to linear light; an odd function.",
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { _, _ in CISRGBToneCurveToLinear() })

    var form: PixelForm? { .curve(LightCurve.signedDecoding) }

    func apply(to pixels: PixelChunk) { pixels.decode() }
}
