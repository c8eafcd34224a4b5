import Adjustments

/// css:hue-rotate(): turns the hues, on encoded values.
enum CSSHueRotate {
    static let definition = FilterDefinition(
        name: "css:hue-rotate",
        summary: "Turns all hues round the colour circle, as CSS does.",
        category: .css,
        parameters: [
            // CSS takes any angle; a thousand turns are ours.
            .number("angle", "How far.", default: 0, -360_000...360_000, .degrees, identity: 0)
        ],
        fidelity: .exact,
        source: "W3C Filter Effects 1: feColorMatrix hueRotate on encoded values.",
        kernel: .pixel { filter, _ in
            EncodedMatrixPixels(transforms: [
                HueRotation.matrix(angle: filter.number("angle") * .pi / 180)
            ])
        })
}
