package import Adjustments
import Filters
import Glibc

/// Where pixels of a result lie in its source.
///
/// A place follows from a pixel's column and row alone, or from those of its segment's first pixel, is rounded to 2⁻²⁴ of a
/// pixel, and is told as a whole number and a rest: so it is the same in whatever order a picture is computed, as long as
/// segments begin at multiples of ``WarpSegment/length``.
package struct WarpPlaces: Sendable {
    /// From the result to the source, both counted from the top.
    private let map: [Double]
    private let homography: Homography
    private let isAffine: Bool
    /// Columns and rows of the source for one of the result, where they are the same everywhere.
    private let stretch: (x: Float, y: Float)

    /// Kernels are wider from this on: what is less is rounding.
    private static let stretchLeast = 1.001

    package init(_ map: Homography, stretchMax: Double) {
        self.map = map.values
        homography = map
        isAffine = map.isAffine
        let stretch = map.isAffine ? map.stretch(at: Place(0, 0)) : (x: 1, y: 1)
        let isWide = max(stretch.x, stretch.y) > Self.stretchLeast
        func kernel(_ stretch: Double) -> Float {
            isWide ? Float(min(max(stretch, 1), stretchMax)) : 1
        }
        self.stretch = (kernel(stretch.x), kernel(stretch.y))
    }

    /// Fills in where some pixels lie, and how much the picture shrinks there.
    ///
    /// - Returns: the most that it shrinks.
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

    /// Fills in places that lie a step apart: they only count up.
    private static func fill(
        _ whole: UnsafeMutablePointer<Int32>, _ rest: UnsafeMutablePointer<Float>,
        from start: Double, step: Double, _ count: Int, _ bounds: Bounds
    ) {
        let end = start + step * Double(count)
        guard bounds.contain(start), bounds.contain(end) else {
            for i in 0..<count {
                let place = bounds.split(start + step * Double(Int32(truncatingIfNeeded: i)))
                (whole[i], rest[i]) = (place.whole, place.rest)
            }
            return
        }
        var place = UInt64((start + 1) * Self.one)
        let next = UInt64(bitPattern: Int64(step * Self.one))
        for i in 0..<count {
            whole[i] = Int32(truncatingIfNeeded: place &>> 40) &- 1
            rest[i] =
                Float(Int32(truncatingIfNeeded: place &>> 16 & 0xFF_FFFF)) * (1 / 16_777_216)
            place &+= next
        }
    }

    /// One pixel in the fixed-point numbers that places count up in; a picture has less than 2²² columns.
    private static let one = 1_099_511_627_776.0

    private func fillAslant(
        _ segment: WarpSegment, _ column: Int, _ row: Int, _ count: Int, _ source: WarpedSource,
        _ stretchMax: Float
    ) -> (x: Float, y: Float) {
        let y = Double(row) + 0.5
        let (startX, stepX) = (map[1] * y + map[2], map[0])
        let (startY, stepY) = (map[4] * y + map[5], map[3])
        let (startW, stepW) = (map[7] * y + map[8], map[6])
        let (columns, rows) = (Bounds(source.columns), Bounds(source.rows))
        let (a, b, d, e) = (Float(map[0]), Float(map[1]), Float(map[3]), Float(map[4]))
        let (g, h) = (Float(map[6]), Float(map[7]))
        let (wideX, wideY) = (segment.stretchX, segment.stretchY)
        // Until there are sums, the places themselves and by what they were divided.
        let (placesX, placesY) = (segment.results, segment.results + WarpSegment.length)
        let shares = segment.results + 2 * WarpSegment.length
        for i in 0..<count {
            let x = Double(Int32(truncatingIfNeeded: column &+ i)) + 0.5
            let share = 1 / (startW + stepW * x)
            let (u, v) = ((startX + stepX * x) * share, (startY + stepY * x) * share)
            let (across, down) = (columns.split(u - 0.5), rows.split(v - 0.5))
            (segment.columns[i], segment.across[i]) = (across.whole, across.rest)
            (segment.rows[i], segment.down[i]) = (down.whole, down.rest)
            (placesX[i], placesY[i], shares[i]) = (Float(u), Float(v), Float(share))
        }
        // As Homography.stretch(at:).
        for i in 0..<count {
            let (dx, dy) = ((a - placesX[i] * g) * shares[i], (b - placesX[i] * h) * shares[i])
            wideX[i] = (dx * dx + dy * dy).squareRoot()
        }
        for i in 0..<count {
            let (dx, dy) = ((d - placesY[i] * g) * shares[i], (e - placesY[i] * h) * shares[i])
            wideY[i] = (dx * dx + dy * dy).squareRoot()
        }
        decide(segment, column, y, count)
        var most: (x: Float, y: Float) = (1, 1)
        let limit = Float(Self.stretchLeast)
        for i in 0..<count {
            let isWide = wideX[i] > limit || wideY[i] > limit
            func kernel(_ stretch: Float) -> Float {
                let above = stretch > 1 ? stretch : 1
                return isWide ? (above < stretchMax ? above : stretchMax) : 1
            }
            wideX[i] = kernel(wideX[i])
            wideY[i] = kernel(wideY[i])
            most = (max(most.x, wideX[i]), max(most.y, wideY[i]))
        }
        return most
    }

    /// Computes anew, in Doubles, how much the picture shrinks where Floats cannot tell whether kernels become wider.
    private func decide(_ segment: WarpSegment, _ column: Int, _ y: Double, _ count: Int) {
        let (wideX, wideY) = (segment.stretchX, segment.stretchY)
        var least = Float.infinity
        for i in 0..<count {
            let x = (wideX[i] - Float(Self.stretchLeast)).magnitude
            let y = (wideY[i] - Float(Self.stretchLeast)).magnitude
            let nearer = x < y ? x : y
            least = nearer < least ? nearer : least
        }
        guard least < Self.doubt else { return }
        func told(_ stretch: Double) -> Float {
            let limit = Float(Self.stretchLeast)
            return stretch > Self.stretchLeast
                ? max(Float(stretch), limit.nextUp) : min(Float(stretch), limit)
        }
        for i in 0..<count {
            let exact = homography.stretch(at: Place(Double(column + i) + 0.5, y))
            (wideX[i], wideY[i]) = (told(exact.x), told(exact.y))
        }
    }

    /// More than Floats are off by where a kernel begins to be wider.
    private static let doubt: Float = 1e-5

    /// The bounds of places along one side of a source.
    private struct Bounds {
        private let low, high: Double

        /// Between 2²⁸ and 2²⁹ the last bit of a Double is worth 2⁻²⁴.
        private static let rounding = 1.5 * 268_435_456

        init(_ range: Range<Int>) {
            // A place beyond the outermost pixels is theirs; also keeps what follows within integers.
            (low, high) = (Double(range.lowerBound) - 1, Double(range.upperBound))
        }

        /// Whether a place need not be moved.
        func contain(_ place: Double) -> Bool { place >= low && place <= high }

        /// A place as the whole number at or below it, and the rest.
        @inline(__always)
        func split(_ place: Double) -> (whole: Int32, rest: Float) {
            // Written so that what is no number becomes the lowest.
            let above = place > low ? place : low
            let inside = above < high ? above : high
            let bits = (inside + Self.rounding).bitPattern &- Self.rounding.bitPattern
            let rest = Int32(truncatingIfNeeded: bits & 0xFF_FFFF)
            return (Int32(truncatingIfNeeded: bits &>> 24), Float(rest) * (1 / 16_777_216))
        }
    }
}
