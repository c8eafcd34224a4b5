import Edits

/// CIColorCubeWithColorSpace: looks up each colour, in the values of a given colour space, in a table.
enum CIColorCubeWithColorSpace {
    static let definition = FilterDefinition(
        name: "CIColorCubeWithColorSpace",
        summary: "Looks up the colours of a colour space in a table.",
        category: .lookUpTable,
        parameters: [
            ColorCubeTable.dimension, ColorCubeTable.data,
            NamedColourSpace.parameter("inputColorSpace", "What the table's numbers mean."),
            ColorCubeTable.extrapolate,
        ],
        fidelity: .measured(rms: 0.18),
        source: "Trilinear, on values of the colour space; documented by Apple.",
        light: .unlimited(when: { $0.flag("inputExtrapolate") }),
        kernel: .pixel { filter, context throws(Failure) in
            try ColorCubeTable(filter, in: NamedColourSpace(filter, "inputColorSpace"), context)
        })
}
