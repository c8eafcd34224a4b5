import Edits

/// CIHardLightBlendMode: B = 2bs for s ≤ ½, else screen(b, 2s − 1).
enum CIHardLightBlendMode {
    static let definition = Overlay.definition(
        "CIHardLightBlendMode", "Multiplies where the picture is dark, screens where it is bright.",
        .measured(rms: 4.3),
        "B = 2bs for s ≤ ½, else screen(b, 2s − 1).", gain: .dropped
    ) { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = s <= 0.5 ? 2 * b * s : b + (2 * s - 1) - b * (2 * s - 1)
        }
    }
}
