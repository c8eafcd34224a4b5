import Edits

/// CIConvolution5X5: 5 × 5 weights and a bias; see ``Convolution``.
enum CIConvolution5X5 {
    static let definition = FilterDefinition(
        name: "CIConvolution5X5",
        summary: "Sums each pixel's neighbours in a square of 5, weighted, and adds a bias.",
        category: .stylise,
        parameters: Convolution.parameters(columns: 5, rows: 5),
        fidelity: .exact,
        source:
            "Σ weights · pixels + bias on linear light multiplied by alpha, as Apple documents it.",
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in Convolution(filter, columns: 5, rows: 5) })
}
