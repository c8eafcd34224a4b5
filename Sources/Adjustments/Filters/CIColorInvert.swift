extension FilterDefinition {
    /// Inverts the colours, in linear light as Core Image does. It has no parameters.
    static let colorInvert = FilterDefinition(
        name: "CIColorInvert",
        summary: "Inverts the colours in linear light.",
        parameters: [],
        reach: .pixel,
        fidelity: .measured(rms: 1.00))
}
