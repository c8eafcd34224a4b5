import Edits

/// CISmoothLinearGradient: from one colour to another along a line, softly.
enum CISmoothLinearGradient {
    static let definition = FilterDefinition(
        name: "CISmoothLinearGradient",
        summary: "From one colour to another along a line, softly.",
        category: .gradient,
        parameters: LinearGradient.parameters,
        fidelity: .measured(rms: 1),
        source:
            "Mixed in linear light, multiplied by alpha, by t²(3 − 2t), as Core Image's own pixels are.",
        kernel: .generator { filter, _ throws(Failure) in
            try LinearGradient(filter, isSmooth: true)
        })
}
