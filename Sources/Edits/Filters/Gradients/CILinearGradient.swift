import Edits

/// CILinearGradient: from one colour to another along a line, evenly.
enum CILinearGradient {
    static let definition = FilterDefinition(
        name: "CILinearGradient",
        summary: "From one colour to another along a line, evenly.",
        category: .gradient,
        parameters: LinearGradient.parameters,
        fidelity: .exact,
        source: "Mixed in linear light, multiplied by alpha; Core Image's published formula.",
        kernel: .generator { filter, _ throws(Failure) in
            try LinearGradient(filter, isSmooth: false)
        })
}
