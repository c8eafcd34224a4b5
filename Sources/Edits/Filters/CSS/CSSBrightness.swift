import Edits

/// css:brightness(): multiplies the encoded values.
enum CSSBrightness {
    static let definition = CSSFilter.definition(
        "css:brightness", "Brightens or darkens, as CSS does.", identity: 1,
        formula: "v · a on encoded values."
    ) { amount in
        EncodedMatrixPixels.line(slope: amount, intercept: 0)
    }
}
