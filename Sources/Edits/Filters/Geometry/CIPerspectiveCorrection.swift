import Edits

/// CIPerspectiveCorrection: rectifies an obliquely photographed rectangle.
enum CIPerspectiveCorrection {
    static let definition = FilterDefinition(
        name: "CIPerspectiveCorrection",
        summary: "Cuts out what was photographed aslant between four places, as a rectangle.",
        category: .geometry,
        parameters: Corners.parameters,
        fidelity: .lookAlike,
        source: """
            The inverse of CIPerspectiveTransform. How large Core Image makes the result is unpublished; ours is as wide and \
            as high as the longer of the two opposite sides. Resampled by bicubic interpolation in linear light.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let corners = try Corners.of(filter)
            func side(_ a: Int, _ b: Int) -> Double {
                let (dx, dy) = (corners[a].x - corners[b].x, corners[a].y - corners[b].y)
                return (dx * dx + dy * dy).squareRoot()
            }
            let width = max(1, max(side(0, 1), side(3, 2)).rounded())
            let height = max(1, max(side(0, 3), side(1, 2)).rounded())
            guard let map = Homography(width: width, height: height, to: corners),
                width <= Canvas.sideMax, height <= Canvas.sideMax
            else {
                throw Failure(
                    .tooManyPixels,
                    "CIPerspectiveCorrection's corners make a picture of \(width)×\(height) pixels."
                )
            }
            return Geometry(
                of: context.size, size: PixelSize(width: Int(width), height: Int(height)),
                toSource: map)
        })
}
