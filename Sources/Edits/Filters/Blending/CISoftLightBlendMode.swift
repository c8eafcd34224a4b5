import Edits

/// CISoftLightBlendMode: B = b − (1 − 2s)·b·(1 − b) for s ≤ ½, else b + (2s − 1)(D − b), D = ((16b − 12)b + 4)b for b ≤ ¼, else √b. Core Image's exact variant is not settled.
enum CISoftLightBlendMode {
    static let definition = Overlay.definition(
        "CISoftLightBlendMode", "Darkens or brightens the photo gently by a picture.", .lookAlike,
        """
        B = b − (1 − 2s)·b·(1 − b) for s ≤ ½, else b + (2s − 1)(D − b), D = ((16b − 12)b + 4)b for b ≤ ¼, else √b. \
        Core Image's exact variant is not settled.
        """, gain: .dropped, light: .upToWhite
    ) { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
            above[i] =
                s <= 0.5
                ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b)
        }
    }
}
