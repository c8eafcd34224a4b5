import Edits

/// CIScreenBlendMode: B = b + s − b·s.
enum CIScreenBlendMode {
    static let definition = Overlay.definition(
        "CIScreenBlendMode", "Brightens the photo by a picture, as two projectors on one screen.",
        .measured(rms: 0.62),
        "B = b + s − b·s."
    ) { below, above, count in
        for i in 0..<count {
            above[i] = below[i] + above[i] - below[i] * above[i]
        }
    }
}
