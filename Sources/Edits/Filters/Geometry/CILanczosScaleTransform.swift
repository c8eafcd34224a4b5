import Edits

/// CILanczosScaleTransform: scales by the Lanczos kernel with three lobes in linear light.
enum CILanczosScaleTransform {
    static let definition = FilterDefinition(
        name: "CILanczosScaleTransform",
        summary: "Makes the photo larger or smaller.",
        category: .geometry,
        parameters: [
            // Core Image documents no limits. Ours: a thousandth of the largest photo is a pixel or two, and beyond a factor of a
            // hundred no photo fits into the limit on pixels.
            .number(
                "inputScale", "By what the height grows.", default: 1, 0.001...100, identity: 1),
            .number(
                "inputAspectRatio", "By what the width grows beyond that.", default: 1,
                0.01...100, identity: 1),
        ],
        fidelity: .measured(rms: 0.83),
        source: """
            Lanczos with three lobes in linear light, anchored at the bottom left. Sides are rounded up: a last row or \
            column that the photo covers only in part is transparent in part, as in Core Image, and filled from the \
            photo's edge in formats without transparency.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let scale = filter.number("inputScale")
            let across = scale * filter.number("inputAspectRatio")
            return try Canvas.around(
                context.size, moved: Homography(affine: across, 0, 0, 0, scale, 0),
                by: "CILanczosScaleTransform's inputScale \(scale)")
        })
}
