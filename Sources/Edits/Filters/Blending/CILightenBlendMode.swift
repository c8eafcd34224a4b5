import Edits

/// CILightenBlendMode: B = max(b, s).
enum CILightenBlendMode {
    static let definition = Overlay.definition(
        "CILightenBlendMode", "Keeps the brighter of photo and picture.", .measured(rms: 1.2),
        "B = max(b, s)."
    ) { below, above, count in
        for i in 0..<count {
            above[i] = max(below[i], above[i])
        }
    }
}
