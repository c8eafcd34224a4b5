import Edits

/// css:contrast(): scales the encoded values about their middle.
enum CSSContrast {
    static let definition = CSSFilter.definition(
        "css:contrast", "Changes the contrast, as CSS does.", identity: 1,
        formula: "v · a + ½ − ½ a on encoded values."
    ) { amount in
        EncodedMatrixPixels.line(slope: amount, intercept: 0.5 - 0.5 * amount)
    }
}
