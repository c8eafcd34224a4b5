package import Edits
import Filters
import Glibc

/// The positions of a result's pixels in its source.
///
/// A position depends only on a pixel's column and row, or on those of its segment's first pixel. It is rounded to 2⁻²⁴ of a pixel,
/// and stored as an integer and a fraction. So it is the same in whatever order a picture is computed, as long as segments begin at
/// multiples of ``WarpSegment/length``.
package struct WarpPositions: Sendable {
    /// The map from the result to the source, both counted from the top.
    private let map: [Double]
    private let homography: Homography
    private let isAffine: Bool
    /// Columns and rows of the source per column and row of the result, if they are constant.
    private let stretch: (x: Float, y: Float)

    /// Kernels are widened from this stretch on; a smaller excess over 1 is rounding.
    private static let stretchLeast = 1.001

    package init(_ map: Homography, stretchMax: Double) {
        self.map = map.values
        homography = map
        isAffine = map.isAffine
        let stretch = map.isAffine ? map.stretch(at: Point(0, 0)) : (x: 1, y: 1)
        let isWide = max(stretch.x, stretch.y) > Self.stretchLeast
        func kernel(_ stretch: Double) -> Float {
            isWide ? Float(min(max(stretch, 1), stretchMax)) : 1
        }
        self.stretch = (kernel(stretch.x), kernel(stretch.y))
    }

    /// Computes the positions of some pixels, and how much the picture shrinks there.
    ///
    /// - Returns: the largest shrink factor.
    package func fill(
        _ segment: WarpSegment, column: Int, row: Int, count: Int, in source: WarpedSource,
        stretchMax: Float
    ) -> (x: Float, y: Float) {
        isAffine
            ? fillAffine(segment, column, row, count, source)
            : fillAslant(segment, column, row, count, source, stretchMax)
    }

    private func fillAffine(
        _ segment: WarpSegment, _ column: Int, _ row: Int, _ count: Int, _ source: WarpedSource
    ) -> (x: Float, y: Float) {
        let (x, y) = (Double(column) + 0.5, Double(row) + 0.5)
        let across = map[0] * x + (map[1] * y + map[2] - 0.5)
        let down = map[3] * x + (map[4] * y + map[5] - 0.5)
        Self.fill(
            segment.columns, segment.across, from: across, step: map[0], count,
            Bounds(source.columns))
        Self.fill(
            segment.rows, segment.down, from: down, step: map[3], count, Bounds(source.rows))
        if stretch != (1, 1) {
            segment.stretchX.update(repeating: stretch.x, count: count)
            segment.stretchY.update(repeating: stretch.y, count: count)
        }
        return stretch
    }

    /// Computes positions a constant step apart, by addition.
    private static func fill(
        _ whole: UnsafeMutablePointer<Int32>, _ rest: UnsafeMutablePointer<Float>,
        from start: Double, step: Double, _ count: Int, _ bounds: Bounds
    ) {
        let end = start + step * Double(count)
        guard bounds.contain(start), bounds.contain(end) else {
            for i in 0..<count {
                let position = bounds.split(start + step * Double(Int32(truncatingIfNeeded: i)))
                (whole[i], rest[i]) = (position.whole, position.rest)
            }
            return
        }
        var position = UInt64((start + 1) * Self.one)
        let next = UInt64(bitPattern: Int64(step * Self.one))
        for i in 0..<count {
            whole[i] = Int32(truncatingIfNeeded: position &>> 40) &- 1
            rest[i] =
                Float(Int32(truncatingIfNeeded: position &>> 16 & 0xFF_FFFF)) * (1 / 16_777_216)
            position &+= next
        }
    }

    /// One pixel in the fixed-point numbers in which positions are added; a picture has less than 2²² columns.
    private static let one = 1_099_511_627_776.0

    private func fillAslant(
        _ segment: WarpSegment, _ column: Int, _ row: Int, _ count: Int, _ source: WarpedSource,
        _ stretchMax: Float
    ) -> (x: Float, y: Float) {
        let y = Double(row) + 0.5
        let start = Double(column) + 0.5
        let shares = segment.shares
        let (startW, stepW) = (map[7] * y + map[8], map[6])
        for i in 0..<count {
            shares[i] = 1 / (startW + stepW * (start + Double(Int32(truncatingIfNeeded: i))))
        }
        // Used as scratch memory until there are sums.
        let positions = segment.results
        Self.fill(
            segment.columns, segment.across, positions, shares, count, Bounds(source.columns),
            start: map[1] * y + map[2] + map[0] * start, step: map[0])
        let isNarrow = isNarrow(from: start, to: start + Double(count - 1), y)
        let (g, h) = (Float(map[6]), Float(map[7]))
        if !isNarrow {
            Self.stretch(
                segment.stretchX, positions, shares, count, (Float(map[0]), Float(map[1])), (g, h))
        }
        Self.fill(
            segment.rows, segment.down, positions, shares, count, Bounds(source.rows),
            start: map[4] * y + map[5] + map[3] * start, step: map[3])
        if isNarrow { return (1, 1) }
        Self.stretch(
            segment.stretchY, positions, shares, count, (Float(map[3]), Float(map[4])), (g, h))
        decide(segment, column, y, count)
        return Self.kernels(segment.stretchX, segment.stretchY, count, stretchMax)
    }

    /// Whether no kernel of a part of a row is wider, as a bound tells: then widths need not be computed.
    ///
    /// A position is a quotient of two linear functions. Its derivatives are quotients, too: below is the square of the lower
    /// one, and above a function that is linear along a row, so both are greatest at an end.
    private func isNarrow(from first: Double, to last: Double, _ y: Double) -> Bool {
        func below(_ x: Double) -> Double { map[6] * x + map[7] * y + map[8] }
        let least = min(below(first), below(last))
        guard least > 0 else { return false }
        let limit = (Self.stretchLeast - Self.certain) * least * least
        func isBelow(_ a: Double, _ b: Double, _ c: Double) -> Bool {
            func across(_ x: Double) -> Double { a * below(x) - (a * x + b * y + c) * map[6] }
            func down(_ x: Double) -> Double { b * below(x) - (a * x + b * y + c) * map[7] }
            let dx = max(abs(across(first)), abs(across(last)))
            let dy = max(abs(down(first)), abs(down(last)))
            return dx * dx + dy * dy <= limit * limit
        }
        return isBelow(map[0], map[1], map[2]) && isBelow(map[3], map[4], map[5])
    }

    /// The margin by which a bound must be below ``stretchLeast``: more than ``doubt`` and the error of Floats.
    private static let certain = 1e-4

    /// Fills in positions along one side, seen aslant.
    ///
    /// Uses few arrays at a time: with more, the compiler cannot prove that they do not alias, and does not vectorize.
    @inline(__always)
    private static func fill(
        _ whole: UnsafeMutablePointer<Int32>, _ rest: UnsafeMutablePointer<Float>,
        _ positions: UnsafeMutablePointer<Float>, _ shares: UnsafePointer<Double>, _ count: Int,
        _ bounds: Bounds, start: Double, step: Double
    ) {
        for i in 0..<count {
            let position = (start + step * Double(Int32(truncatingIfNeeded: i))) * shares[i]
            let split = bounds.split(position - 0.5)
            whole[i] = split.whole
            rest[i] = split.rest
            positions[i] = Float(position)
        }
    }

    /// Computes how much the picture shrinks along one side, as Homography.stretch(at:) does.
    @inline(__always)
    private static func stretch(
        _ wide: UnsafeMutablePointer<Float>, _ positions: UnsafePointer<Float>,
        _ shares: UnsafePointer<Double>, _ count: Int, _ own: (Float, Float),
        _ below: (Float, Float)
    ) {
        for i in 0..<count {
            let share = Float(shares[i])
            let dx = (own.0 - positions[i] * below.0) * share
            let dy = (own.1 - positions[i] * below.1) * share
            wide[i] = (dx * dx + dy * dy).squareRoot()
        }
    }

    /// Computes kernel widths from the shrink factors.
    ///
    /// - Returns: the widest.
    private static func kernels(
        _ wideX: UnsafeMutablePointer<Float>, _ wideY: UnsafeMutablePointer<Float>, _ count: Int,
        _ stretchMax: Float
    ) -> (x: Float, y: Float) {
        let limit = Float(stretchLeast)
        // Positive floats are ordered like their bit patterns, for whose maximum the compiler finds vector code.
        var most: (x: UInt32, y: UInt32) = (0, 0)
        for i in 0..<count {
            let isWide = wideX[i] > limit || wideY[i] > limit
            @inline(__always) func kernel(_ stretch: Float) -> Float {
                let above = stretch > 1 ? stretch : 1
                return isWide ? (above < stretchMax ? above : stretchMax) : 1
            }
            let (x, y) = (kernel(wideX[i]), kernel(wideY[i]))
            (wideX[i], wideY[i]) = (x, y)
            most.x = x.bitPattern > most.x ? x.bitPattern : most.x
            most.y = y.bitPattern > most.y ? y.bitPattern : most.y
        }
        return (Float(bitPattern: most.x), Float(bitPattern: most.y))
    }

    /// Recomputes in Doubles how much the picture shrinks, where Floats cannot decide whether kernels are widened.
    private func decide(_ segment: WarpSegment, _ column: Int, _ y: Double, _ count: Int) {
        let (wideX, wideY) = (segment.stretchX, segment.stretchY)
        let limit = Float(Self.stretchLeast)
        var least = UInt32.max
        for i in 0..<count {
            let x = (wideX[i] - limit).magnitude.bitPattern
            let y = (wideY[i] - limit).magnitude.bitPattern
            let nearer = x < y ? x : y
            least = nearer < least ? nearer : least
        }
        guard least < Self.doubt.bitPattern else { return }
        func bounded(_ stretch: Double) -> Float {
            stretch > Self.stretchLeast
                ? max(Float(stretch), limit.nextUp) : min(Float(stretch), limit)
        }
        for i in 0..<count {
            let exact = homography.stretch(at: Point(Double(column + i) + 0.5, y))
            (wideX[i], wideY[i]) = (bounded(exact.x), bounded(exact.y))
        }
    }

    /// More than the error of Floats at the threshold from which kernels are widened.
    private static let doubt: Float = 1e-5

    /// The bounds of positions along one side of a source.
    private struct Bounds {
        private let low, high: Double

        /// Between 2²⁸ and 2²⁹, the last bit of a Double is worth 2⁻²⁴.
        private static let rounding = 1.5 * 268_435_456

        init(_ range: Range<Int>) {
            // A position beyond the outermost pixels is moved to them, which also keeps the results within integers.
            (low, high) = (Double(range.lowerBound) - 1, Double(range.upperBound))
        }

        func contain(_ position: Double) -> Bool { position >= low && position <= high }

        /// Splits a position into its floor and the fraction.
        @inline(__always)
        func split(_ position: Double) -> (whole: Int32, rest: Float) {
            // Written so that NaN becomes the lowest value.
            let above = position > low ? position : low
            let inside = above < high ? above : high
            let bits = (inside + Self.rounding).bitPattern &- Self.rounding.bitPattern
            let rest = Int32(truncatingIfNeeded: bits & 0xFF_FFFF)
            return (Int32(truncatingIfNeeded: bits &>> 24), Float(rest) * (1 / 16_777_216))
        }
    }
}

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
