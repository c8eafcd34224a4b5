import Edits

/// css:invert(): inverts the encoded values.
enum CSSInvert {
    static let definition = CSSFilter.definition(
        "css:invert", "Inverts the encoded values, as CSS and drawing programs do.", identity: 0,
        formula: "v + a (1 − 2v) on encoded values; beyond 1 acts as 1.", gain: .dropped
    ) { amount in
        EncodedMatrixPixels.line(slope: 1 - 2 * min(amount, 1), intercept: min(amount, 1))
    }
}
