import Edits

/// CIHueAdjust: rotates the hues, on linear light.
enum CIHueAdjust {
    static let definition = FilterDefinition(
        name: "CIHueAdjust",
        summary: "Turns all hues round the colour circle.",
        category: .tone,
        parameters: [
            .number(
                "inputAngle", "How far.", default: 0, -2 * .pi...2 * .pi, .radians, identity: 0)
        ],
        fidelity: .measured(rms: 1.10),
        source: """
            The W3C's matrix of hueRotate on linear light. A turn in YIQ or about the axis of equal numbers is off by \
            20 to 35.
            """,
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { filter, _ in
            MatrixPixels(transform: HueRotation.matrix(angle: filter.number("inputAngle")))
        })
}
