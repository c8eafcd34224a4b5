import Edits

/// CIConvolution9Vertical: nine weights and a bias; see ``Convolution``.
enum CIConvolution9Vertical {
    static let definition = FilterDefinition(
        name: "CIConvolution9Vertical",
        summary: "Sums each pixel's neighbours in its column, weighted, and adds a bias.",
        category: .stylise,
        parameters: Convolution.parameters(columns: 1, rows: 9),
        fidelity: .exact,
        source:
            "Σ weights · pixels + bias on linear light multiplied by alpha, as Apple documents it.",
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in Convolution(filter, columns: 1, rows: 9) })
}
