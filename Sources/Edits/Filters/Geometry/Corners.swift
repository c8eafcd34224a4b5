import Edits

/// The four corners that are parameters of the perspective filters.
enum Corners {
    /// The parameters. Core Image's own defaults only suit its example.
    static let parameters: [ParameterDefinition] = [
        .point("inputTopLeft", "The top left corner.", default: [118, 484]),
        .point("inputTopRight", "The top right corner.", default: [646, 507]),
        .point("inputBottomRight", "The bottom right corner.", default: [548, 140]),
        .point("inputBottomLeft", "The bottom left corner.", default: [155, 153]),
    ]

    /// Returns the corners counter-clockwise from the bottom left.
    ///
    /// - Throws: `invalidValue` if they are not a convex quadrilateral in this order.
    static func of(_ filter: Filter) throws(Failure) -> [Point] {
        let corners = ["BottomLeft", "BottomRight", "TopRight", "TopLeft"].map { name in
            let point = filter.vector("input" + name)
            return Point(point[0], point[1])
        }
        let isConvex = (0..<4).allSatisfy { index in
            let (a, b, c) = (corners[index], corners[(index + 1) % 4], corners[(index + 2) % 4])
            // Twice the area of the triangle: at least a pixel, and counter-clockwise.
            return (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x) >= 1
        }
        guard isConvex else {
            throw Failure(
                .invalidValue,
                "\(filter.name)'s corners "
                    + corners.map { "(\($0.x), \($0.y))" }.joined(separator: ", ")
                    + " (bottom left, bottom right, top right, top left) are no quadrilateral with four "
                    + "corners outward in this order, with y counted from the bottom.")
        }
        return corners
    }
}
