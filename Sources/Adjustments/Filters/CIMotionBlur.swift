extension FilterDefinition {
    /// Blurs along one direction, as a camera that moved would.
    ///
    /// Source of defaults and limits: `CIFilter.attributes` of macOS 15 (radius 20, minimum 0; angle
    /// 0). Core Image names no maximum; 500 pixels is ours, five times the slider's end: it bounds
    /// the rows that a slanted blur keeps in memory. It holds for the full-size photo too.
    static let motionBlur = FilterDefinition(
        name: "CIMotionBlur",
        summary: "Blurs the photo along one direction.",
        parameters: [
            ParameterDefinition(
                name: "inputRadius", defaultValue: 20, range: 0...500, unit: .pixels),
            ParameterDefinition(
                name: "inputAngle", defaultValue: 0, range: -2 * .pi...2 * .pi, unit: .radians),
        ],
        reach: .neighbourhood,
        fidelity: .measured(rms: 1.05))
}
