import Edits

/// CIConvolution9Horizontal: nine weights and a bias; see ``Convolution``.
enum CIConvolution9Horizontal {
    static let definition = FilterDefinition(
        name: "CIConvolution9Horizontal",
        summary: "Sums each pixel's neighbours in its row, weighted, and adds a bias.",
        category: .stylise,
        parameters: Convolution.parameters(columns: 9, rows: 1),
        fidelity: .exact,
        source:
            "Σ weights · pixels + bias on linear light multiplied by alpha, as Apple documents it.",
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in Convolution(filter, columns: 9, rows: 1) })
}
