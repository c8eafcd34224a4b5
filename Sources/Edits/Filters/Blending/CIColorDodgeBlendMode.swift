import Edits

/// CIColorDodgeBlendMode: B = 0 for b = 0, 1 for s = 1, else min(1, b/(1 − s)).
enum CIColorDodgeBlendMode {
    static let definition = Overlay.definition(
        "CIColorDodgeBlendMode", "Brightens the photo strongly where the picture is bright.",
        .measured(rms: 1.0),
        "B = 0 for b = 0, 1 for s = 1, else min(1, b/(1 − s)).", gain: .dropped, light: .upToWhite
    ) { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = b <= 0 ? 0 : s >= 1 ? 1 : min(1, b / (1 - s))
        }
    }
}
