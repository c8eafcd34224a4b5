import Edits

/// CIMultiplyBlendMode: B = b·s.
enum CIMultiplyBlendMode {
    static let definition = Overlay.definition(
        "CIMultiplyBlendMode",
        "Darkens the photo by a picture, as two slides on top of each other.", .measured(rms: 0.95),
        "B = b·s."
    ) { below, above, count in
        for i in 0..<count {
            above[i] *= below[i]
        }
    }
}
