import Edits

/// CIColorBurnBlendMode: B = 1 for b = 1, 0 for s = 0, else 1 − min(1, (1 − b)/s).
enum CIColorBurnBlendMode {
    static let definition = Overlay.definition(
        "CIColorBurnBlendMode", "Darkens the photo strongly where the picture is dark.",
        .measured(rms: 1.0),
        "B = 1 for b = 1, 0 for s = 0, else 1 − min(1, (1 − b)/s).", gain: .dropped,
        light: .upToWhite
    ) { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = b >= 1 ? 1 : s <= 0 ? 0 : 1 - min(1, (1 - b) / s)
        }
    }
}
