import Edits

/// CIConvolution3X3: 3 × 3 weights and a bias; see ``Convolution``.
enum CIConvolution3X3 {
    static let definition = FilterDefinition(
        name: "CIConvolution3X3",
        summary: "Sums each pixel's neighbours in a square of 3, weighted, and adds a bias.",
        category: .stylise,
        parameters: Convolution.parameters(columns: 3, rows: 3),
        fidelity: .exact,
        source:
            "Σ weights · pixels + bias on linear light multiplied by alpha, as Apple documents it.",
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in Convolution(filter, columns: 3, rows: 3) })
}
