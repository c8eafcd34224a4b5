extension FilterDefinition {
    /// Shows the edges in colour on black.
    ///
    /// Source of defaults and limits: `CIFilter.attributes` of macOS 15 (default 1, minimum 0). Core
    /// Image names no maximum; 100 is ours, ten times the slider's end.
    static let edges = FilterDefinition(
        name: "CIEdges",
        summary: "Shows the edges of the photo in colour on black.",
        parameters: [
            ParameterDefinition(
                name: "inputIntensity", defaultValue: 1, range: 0...100, unit: .factor)
        ],
        reach: .neighbourhood,
        fidelity: .lookAlike)
}
