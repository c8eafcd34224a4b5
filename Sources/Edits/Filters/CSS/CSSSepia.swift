import Edits

/// css:sepia(): shades of brown.
enum CSSSepia {
    static let definition = CSSFilter.definition(
        "css:sepia", "Maps the photo to shades of brown, as CSS does.", identity: 0,
        formula: "a matrix on encoded values; beyond 1 acts as 1."
    ) { amount in
        EncodedMatrixPixels.mixed(full, amount)
    }

    private static let full = [
        0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131,
    ]
}
