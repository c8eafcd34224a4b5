extension FilterDefinition {
    /// Maps the photo to shades of brown.
    ///
    /// Source of defaults and limits: `CIFilter.attributes` of macOS 15 (default 1, minimum 0). Core
    /// Image names no maximum; 10 is ours, far beyond the slider's 1.
    static let sepiaTone = FilterDefinition(
        name: "CISepiaTone",
        summary: "Maps the photo to shades of brown.",
        parameters: [
            ParameterDefinition(
                name: "inputIntensity", defaultValue: 1, range: 0...10, unit: .factor)
        ],
        reach: .pixel,
        fidelity: .measured(rms: 1.14))
}
