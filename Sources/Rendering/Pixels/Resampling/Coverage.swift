package import Edits

/// The fraction of each pixel of a result that its source covers, for edges that cross the pixel.
///
/// The fraction of a pixel on one side of a line is approximated by its centre's distance plus a half, clamped to 0 to 1: exact for
/// lines along the axes, and within 0.06 for others.
package struct Coverage: Sendable {
    private let edges: [(a: Double, b: Double, c: Double)]

    /// - Parameter geometry: a geometry, whose result is converted to count from the top.
    package init(_ geometry: Geometry) {
        let height = Double(geometry.size.height)
        edges = geometry.edges.map { ($0.a, -$0.b, $0.c + $0.b * height) }
    }

    /// Whether all pixels are fully covered.
    package var isWhole: Bool { edges.isEmpty }

    /// Returns the covered fraction of the pixel in a column and row.
    package func share(_ column: Int, _ row: Int) -> Float {
        let (x, y) = (Double(column) + 0.5, Double(row) + 0.5)
        var share = 1.0
        for edge in edges {
            share *= min(max(edge.a * x + edge.b * y + edge.c + 0.5, 0), 1)
        }
        return Float(share)
    }
}
