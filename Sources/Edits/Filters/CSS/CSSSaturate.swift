import Edits

/// css:saturate(): more or less colour.
enum CSSSaturate {
    static let definition = CSSFilter.definition(
        "css:saturate", "Changes the saturation, as CSS does.", identity: 1,
        formula: "feColorMatrix saturate on encoded values."
    ) { amount in
        EncodedMatrixPixels.matrix(matrix(amount))
    }

    private static func matrix(_ amount: Double) -> [Double] {
        let grey = [0.213, 0.715, 0.072]
        return (0..<9).map { index in
            let (row, column) = (index / 3, index % 3)
            return grey[column] * (1 - amount) + (row == column ? amount : 0)
        }
    }
}
