import Edits

/// CIColorInvert: 1 − x on linear light.
enum CIColorInvert {
    static let definition = FilterDefinition(
        name: "CIColorInvert",
        summary: "Inverts the colours in linear light.",
        category: .tone,
        fidelity: .measured(rms: 1.00),
        source: """
            1 − x on linear light, which is why the result looks washed out: middle grey 128 becomes 229. \
            Inverting the encoded values instead is off by 63; that is css:invert.
            """,
        gain: .dropped,
        kernel: .pixel { _, _ in MatrixPixels(transform: ColourTransform(scale: -1, offset: 1)) })
}
