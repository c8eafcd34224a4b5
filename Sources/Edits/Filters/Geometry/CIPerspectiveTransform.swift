import Edits

/// CIPerspectiveTransform: maps the photo's corners to four places.
enum CIPerspectiveTransform {
    static let definition = FilterDefinition(
        name: "CIPerspectiveTransform",
        summary: "Shows the photo aslant, with its corners at four places.",
        category: .geometry,
        parameters: Corners.parameters,
        fidelity: .lookAlike,
        source: """
            The result is the smallest rectangle of whole pixels around the four places, transparent outside of the photo \
            (white in formats without transparency). Resampled by bicubic interpolation in linear light.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let corners = try Corners.of(filter)
            let (width, height) = (Double(context.size.width), Double(context.size.height))
            guard let map = Homography(width: width, height: height, to: corners) else {
                preconditionFailure("a convex quadrilateral has no three corners on a line")
            }
            return try Canvas.around(context.size, moved: map, by: "\(filter.name)'s corners")
        })
}
