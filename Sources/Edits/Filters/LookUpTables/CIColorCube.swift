import Edits

/// CIColorCube: looks up each colour, in linear light, in a table.
enum CIColorCube {
    static let definition = FilterDefinition(
        name: "CIColorCube",
        summary: "Looks up linear colours in a table.",
        category: .lookUpTable,
        parameters: [ColorCubeTable.dimension, ColorCubeTable.data, ColorCubeTable.extrapolate],
        fidelity: .measured(rms: 0.22),
        source: """
            Trilinear, on linear light; documented by Apple. For `.cube` files, whose values are encoded, see cube.
            """,
        light: .unlimited(when: { $0.flag("inputExtrapolate") }),
        kernel: .pixel { filter, context throws(Failure) in
            try ColorCubeTable(filter, in: .linearSRGB, context)
        })
}
