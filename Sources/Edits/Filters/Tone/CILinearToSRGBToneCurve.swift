import Edits

/// CILinearToSRGBToneCurve: the sRGB encoding, applied on top of the linear working values.
struct CILinearToSRGBToneCurve: FusiblePixels {
    static let definition = FilterDefinition(
        name: "CILinearToSRGBToneCurve",
        summary: "Takes linear light for values that are still to be encoded, which brightens.",
        category: .tone,
        fidelity: .measured(rms: 0.04),
        source: "IEC 61966-2-1, applied to linear light; an odd function.",
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { _, _ in CILinearToSRGBToneCurve() })

    var form: PixelForm? { .curve(LightCurve.signedEncoding) }

    func apply(to pixels: PixelChunk) { pixels.encode() }
}
