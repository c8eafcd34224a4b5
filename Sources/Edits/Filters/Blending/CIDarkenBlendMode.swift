import Edits

/// CIDarkenBlendMode: B = min(b, s).
enum CIDarkenBlendMode {
    static let definition = Overlay.definition(
        "CIDarkenBlendMode", "Keeps the darker of photo and picture.", .measured(rms: 1.2),
        "B = min(b, s)."
    ) { below, above, count in
        for i in 0..<count {
            above[i] = min(below[i], above[i])
        }
    }
}
