import Edits

/// CIOverlayBlendMode: B = hard light with b and s swapped. Core Image's exact variant is not settled.
enum CIOverlayBlendMode {
    static let definition = Overlay.definition(
        "CIOverlayBlendMode", "Darkens what is dark and brightens what is bright in the photo.",
        .lookAlike,
        "B = hard light with b and s swapped. Core Image's exact variant is not settled.",
        gain: .dropped
    ) { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = b <= 0.5 ? 2 * b * s : s + (2 * b - 1) - s * (2 * b - 1)
        }
    }
}
