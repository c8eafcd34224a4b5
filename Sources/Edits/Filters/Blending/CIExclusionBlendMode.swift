import Edits

/// CIExclusionBlendMode: B = b + s − 2bs.
enum CIExclusionBlendMode {
    static let definition = Overlay.definition(
        "CIExclusionBlendMode", "Like the difference, with less contrast.", .measured(rms: 0.64),
        "B = b + s − 2bs.", gain: .dropped, light: .upToWhite
    ) { below, above, count in
        for i in 0..<count {
            above[i] = below[i] + above[i] - 2 * below[i] * above[i]
        }
    }
}
