package import Adjustments

/// How much of each pixel of a result its source covers, for edges that run through it.
///
/// The share of a pixel on one side of a line is taken as its centre's distance plus a half, 0 to 1: exact for
/// lines along the axes, and within 0.06 for others.
package struct Coverage: Sendable {
    private let edges: [(a: Double, b: Double, c: Double)]

    /// - Parameter geometry: its result is counted from the top here.
    package init(_ geometry: Geometry) {
        let height = Double(geometry.size.height)
        edges = geometry.edges.map { ($0.a, -$0.b, $0.c + $0.b * height) }
    }

    /// Whether all pixels are covered whole.
    package var isWhole: Bool { edges.isEmpty }

    /// The share of the pixel in a column and row.
    package func share(_ column: Int, _ row: Int) -> Float {
        let (x, y) = (Double(column) + 0.5, Double(row) + 0.5)
        var share = 1.0
        for edge in edges {
            share *= min(max(edge.a * x + edge.b * y + edge.c + 0.5, 0), 1)
        }
        return Float(share)
    }
}
