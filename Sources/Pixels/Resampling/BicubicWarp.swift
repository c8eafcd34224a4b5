package import Adjustments
import Filters

/// Looks each pixel of a result up in its source by bicubic interpolation (Catmull and Rom, 1974).
///
/// Where the result is smaller than the source the kernel is as much wider, up to ``stretchMax``.
///
/// One pixel at a time, all channels together: 16 loads of four samples. Eight pixels at a time, plane by plane, are no
/// faster from an angle of 5° on, where neighbours lie in different rows.
package struct BicubicWarp: Sendable {
    /// Widest kernel, as a multiple of its width for a result of the source's own size. Only where a picture is
    /// seen very aslant would more be needed.
    package static let stretchMax = 8.0

    private let places: WarpPlaces
    private let coverage: Coverage
    /// How far from a place pixels are looked at.
    package let margin: Int
    /// How far beyond what places may be samples have to lie in memory: kernels narrower than the widest read on, and
    /// multiply by 0.
    package var reach: Int { taps + 2 }
    private let taps: Int

    /// - Parameter shrink: by what the source was shrunk.
    package init(_ geometry: Geometry, shrink: (columns: Int, rows: Int)) {
        places = WarpPlaces(geometry.downward(shrink: shrink), stretchMax: Self.stretchMax)
        coverage = Coverage(geometry)
        let widest = geometry.visible.reduce(1.0) { widest, place in
            let stretch = geometry.toSource.stretch(at: place)
            return max(
                widest, stretch.x / Double(shrink.columns), stretch.y / Double(shrink.rows))
        }
        let most = min(widest, Self.stretchMax)
        margin = Int((2 * most).rounded(.up)) + 1
        taps = max(4, Self.taps(Float(most)))
    }

    /// Columns, or rows, that a kernel of a width can reach.
    private static func taps(_ stretch: Float) -> Int { Int((4 * stretch).rounded(.up)) + 1 }

    /// Memory for ``run(row:columns:from:with:into:)``.
    package func segment() -> WarpSegment { WarpSegment(taps: taps) }

    /// Computes a part of a row of the result.
    ///
    /// - Parameters:
    ///   - source: ``reach`` is its own.
    ///   - out: where the planes of column 0 of the result would be.
    package func run(
        row: Int, columns: Range<Int>, from source: WarpedSource, with segment: WarpSegment,
        into out: PlanarRow
    ) {
        var column = columns.lowerBound
        while column < columns.upperBound {
            let count = min(WarpSegment.length, columns.upperBound - column)
            var most = places.fill(
                segment, column: column, row: row, count: count, in: source,
                stretchMax: Float(Self.stretchMax))
            // A hidden place may be stretched more than any visible one: it counts as nothing below.
            let known = Float(taps - 1) / 4
            if most.x > known || most.y > known {
                segment.narrow(to: known, count: count)
                most = (min(most.x, known), min(most.y, known))
            }
            if most == (1, 1) {
                segment.weigh(count: count)
                segment.sum(count: count, from: source)
            } else {
                let taps = (columns: Self.taps(most.x), rows: Self.taps(most.y))
                segment.weighWide(count: count, taps: taps)
                segment.sumWide(count: count, taps: taps, from: source)
            }
            segment.store(count: count, bands: source.bands, into: out, at: column)
            if !coverage.isWhole { cover(row, column, count, out, planes: source.bands) }
            column += count
        }
    }

    /// Multiplies pixels by how much of them the source covers.
    private func cover(_ row: Int, _ column: Int, _ count: Int, _ out: PlanarRow, planes: Int) {
        for x in column..<column + count {
            let share = coverage.share(x, row)
            guard share < 1 else { continue }
            for plane in 0..<planes { out[plane][x] = share > 0 ? out[plane][x] * share : 0 }
        }
    }
}
