package import Edits
import Filters

/// Interpolates each pixel of a result in its source with the bicubic kernel of Catmull and Rom (1974).
///
/// Where the result is smaller than the source, the kernel is widened by that factor, up to ``stretchMax``.
///
/// One pixel is computed at a time, all channels together. Eight pixels at a time, plane by plane, are no faster from an angle of
/// 5° on, where neighbours lie in different rows.
package struct BicubicWarp: Sendable {
    /// The widest kernel, as a multiple of its width for a result of the source's own size. Only very oblique views of a picture
    /// would need more.
    package static let stretchMax = 8.0

    private let positions: WarpPositions
    private let coverage: Coverage
    /// The distance from a position at which pixels are read.
    package let margin: Int
    /// The distance beyond the range of positions at which samples must be in memory: kernels narrower than the widest read further
    /// samples, and multiply them by 0.
    package var reach: Int { taps + 2 }
    private let taps: Int

    /// - Parameter shrink: the factors by which the source was shrunk.
    package init(_ geometry: Geometry, shrink: (columns: Int, rows: Int)) {
        positions = WarpPositions(geometry.downward(shrink: shrink), stretchMax: Self.stretchMax)
        coverage = Coverage(geometry)
        let widest = geometry.visible.reduce(1.0) { widest, point in
            let stretch = geometry.toSource.stretch(at: point)
            return max(
                widest, stretch.x / Double(shrink.columns), stretch.y / Double(shrink.rows))
        }
        let most = min(widest, Self.stretchMax)
        margin = Int((2 * most).rounded(.up)) + 1
        taps = max(4, Self.taps(Float(most)))
    }

    /// Returns the columns, or rows, that a kernel of a width can reach: whole positions less than twice the width away.
    private static func taps(_ stretch: Float) -> Int { Int((4 * stretch).rounded(.up)) }

    /// Allocates memory for ``run(row:columns:from:with:into:)``: for the pixels being computed and for the next ones.
    package func segments() -> Segments { (WarpSegment(taps: taps), WarpSegment(taps: taps)) }

    package typealias Segments = (WarpSegment, WarpSegment)

    /// Computes a part of a row of the result.
    ///
    /// - Parameters:
    ///   - source: its ``reach`` must equal this warp's.
    ///   - out: the address of the planes for column 0 of the result. Up to three more columns may be written.
    package func run(
        row: Int, columns: Range<Int>, from source: WarpedSource, with segments: Segments,
        into out: PlanarRow
    ) {
        var (segment, next) = segments
        var column = columns.lowerBound
        var most = fill(segment, row, column..<columns.upperBound, source)
        while column < columns.upperBound {
            let count = min(WarpSegment.length, columns.upperBound - column)
            let wide = most
            if column + count < columns.upperBound {
                most = fill(next, row, column + count..<columns.upperBound, source)
            }
            make(segment, wide, row, column, count, from: source, into: out)
            (segment, next) = (next, segment)
            column += count
        }
    }

    /// Computes the source positions of the first of some columns, and prefetches the samples there.
    private func fill(
        _ segment: WarpSegment, _ row: Int, _ columns: Range<Int>, _ source: WarpedSource
    ) -> (x: Float, y: Float) {
        let count = min(WarpSegment.length, columns.count)
        let most = positions.fill(
            segment, column: columns.lowerBound, row: row, count: count, in: source,
            stretchMax: Float(Self.stretchMax))
        segment.prefetch(count: count, from: source)
        // An invisible pixel may be stretched more than any visible one: its weight is 0 below.
        let known = Float(taps) / 4
        guard most.x > known || most.y > known else { return most }
        segment.narrow(to: known, count: count)
        return (min(most.x, known), min(most.y, known))
    }

    private func make(
        _ segment: WarpSegment, _ most: (x: Float, y: Float), _ row: Int, _ column: Int,
        _ count: Int, from source: WarpedSource, into out: PlanarRow
    ) {
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
    }

    /// Multiplies pixels by the fraction that the source covers.
    private func cover(_ row: Int, _ column: Int, _ count: Int, _ out: PlanarRow, planes: Int) {
        for x in column..<column + count {
            let share = coverage.share(x, row)
            guard share < 1 else { continue }
            for plane in 0..<planes { out[plane][x] = share > 0 ? out[plane][x] * share : 0 }
        }
    }
}
