import Edits

/// css:grayscale(): removes the colour.
enum CSSGrayscale {
    static let definition = CSSFilter.definition(
        "css:grayscale", "Takes the colour away, as CSS does.", identity: 0,
        formula:
            "a matrix that makes luminance (0.2126, 0.7152, 0.0722) of encoded values; beyond 1 acts as 1."
    ) { amount in
        EncodedMatrixPixels.mixed(full, amount)
    }

    private static let full = [
        0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722,
    ]
}
