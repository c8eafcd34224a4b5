import Edits

/// CIAffineTransform: turns, scales, shears and mirrors.
enum CIAffineTransform {
    static let definition = FilterDefinition(
        name: "CIAffineTransform",
        summary: "Turns, scales, shears or mirrors the photo by a matrix.",
        category: .geometry,
        parameters: [
            // A factor of a thousand far exceeds the limit on pixels.
            .vector(
                "inputTransform",
                "[a, b, c, d, tx, ty]: (x, y) goes to (a·x + c·y + tx, b·x + d·y + ty).",
                default: [1, 0, 0, 1, 0, 0], ParameterDefinition.coordinateRange,
                [.factor, .factor, .factor, .factor, .x, .y])
        ],
        fidelity: .lookAlike,
        source: """
            The result is the smallest rectangle of whole pixels around the turned photo, transparent outside of it (white \
            in formats without transparency), and later filters count from its bottom left. Core Image interpolates \
            between four pixels; here it is bicubic, or Lanczos where the sides stay parallel to the axes.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let m = filter.vector("inputTransform")
            return try Canvas.around(
                context.size, moved: Homography(affine: m[0], m[2], m[4], m[1], m[3], m[5]),
                by: "CIAffineTransform's inputTransform \(m)")
        })
}
