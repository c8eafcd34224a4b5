import Edits

/// css:hue-rotate(): rotates the hues, on encoded values.
enum CSSHueRotate {
    static let definition = FilterDefinition(
        name: "css:hue-rotate",
        summary: "Turns all hues round the colour circle, as CSS does.",
        category: .css,
        parameters: [
            // CSS allows any angle; the limit of a thousand turns is ours.
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
