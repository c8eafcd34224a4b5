import Adjustments
import Glibc

/// Looks each pixel of a result up in its source by bicubic interpolation (Catmull and Rom, 1974).
///
/// Where the result is smaller than the source the kernel is as much wider, up to ``stretchMax``.
struct BicubicWarp: Sendable {
    /// Widest kernel, as a multiple of its width for a result of the source's own size. Only where a picture is
    /// seen very aslant would more be needed.
    static let stretchMax = 8.0

    /// From the result to the source, both counted from the top.
    private let map: [Double]
    private let isAffine: Bool
    private let homography: Homography
    private let coverage: Coverage
    /// How far from a place pixels are looked at.
    let margin: Int

    /// - Parameter shrink: by what the source was shrunk.
    init(_ geometry: Geometry, shrink: (columns: Int, rows: Int)) {
        homography = geometry.downward(shrink: shrink)
        map = homography.values
        isAffine = homography.isAffine
        coverage = Coverage(geometry)
        let widest = geometry.visible.reduce(1.0) { widest, place in
            let stretch = geometry.toSource.stretch(at: place)
            return max(
                widest, stretch.x / Double(shrink.columns), stretch.y / Double(shrink.rows))
        }
        margin = Int((2 * min(widest, Self.stretchMax)).rounded(.up)) + 1
    }

    /// Computes a rectangle of the result.
    ///
    /// - Parameter input: what of the source it needs.
    func run(_ input: SampleRectangle, _ output: SampleRectangle, bands: Int) {
        let isEmpty = input.width == 0
        let source = Source(input: input, bands: bands)
        let stretch = isAffine ? homography.stretch(at: Place(0, 0)) : (x: 1, y: 1)
        for row in 0..<output.height {
            var out = output.row(row)
            let y = Double(output.top + row) + 0.5
            for column in 0..<output.width {
                defer { out += bands }
                let share =
                    isEmpty ? 0 : coverage.share(output.left + column, output.top + row)
                guard share > 0 else {
                    for band in 0..<bands { out[band] = 0 }
                    continue
                }
                let x = Double(output.left + column) + 0.5
                var u = map[0] * x + map[1] * y + map[2]
                var v = map[3] * x + map[4] * y + map[5]
                var stretch = stretch
                if !isAffine {
                    let w = map[6] * x + map[7] * y + map[8]
                    u /= w
                    v /= w
                    stretch = homography.stretch(at: Place(x, y))
                }
                source.sample(u - 0.5, v - 0.5, stretch, into: out)
                if share < 1 { for band in 0..<bands { out[band] *= share } }
            }
        }
    }
}

extension BicubicWarp {
    /// A rectangle of pixels, the outermost of which go on.
    private struct Source {
        let input: SampleRectangle
        let bands: Int
        let columns: ClosedRange<Int>
        let rows: ClosedRange<Int>

        init(input: SampleRectangle, bands: Int) {
            self.input = input
            self.bands = bands
            columns = input.left...max(input.left, input.left + input.width - 1)
            rows = input.top...max(input.top, input.top + input.height - 1)
        }

        /// - Parameters:
        ///   - u: the place, counted in pixels' centres.
        ///   - stretch: pixels of the source for one of the result.
        @inline(__always)
        func sample(
            _ u: Double, _ v: Double, _ stretch: (x: Double, y: Double),
            into out: UnsafeMutablePointer<Float>
        ) {
            // A place beyond the outermost pixels is theirs; also keeps what follows within integers.
            let u = min(max(u, Double(columns.lowerBound) - 1), Double(columns.upperBound) + 1)
            let v = min(max(v, Double(rows.lowerBound) - 1), Double(rows.upperBound) + 1)
            if stretch.x > 1.001 || stretch.y > 1.001 {
                wide(
                    u, v, min(max(stretch.x, 1), stretchMax), min(max(stretch.y, 1), stretchMax),
                    out)
            } else {
                narrow(u, v, out)
            }
        }

        @inline(__always)
        private func narrow(_ u: Double, _ v: Double, _ out: UnsafeMutablePointer<Float>) {
            let (left, top) = (u.rounded(.down), v.rounded(.down))
            let (across, down) = (
                Self.weights(Float(u - left)), Self.weights(Float(v - top))
            )
            let (x, y) = (Int(left) - 1, Int(top) - 1)
            let x0 = offset(x)
            let x1 = offset(x + 1)
            let x2 = offset(x + 2)
            let x3 = offset(x + 3)
            let (l0, l1, l2, l3) = (line(y), line(y + 1), line(y + 2), line(y + 3))
            for band in 0..<bands {
                @inline(__always) func row(_ line: UnsafeMutablePointer<Float>) -> Float {
                    across.0 * line[x0 + band] + across.1 * line[x1 + band]
                        + across.2 * line[x2 + band] + across.3 * line[x3 + band]
                }
                out[band] =
                    down.0 * row(l0) + down.1 * row(l1) + down.2 * row(l2) + down.3 * row(l3)
            }
        }

        @inline(never)
        private func wide(
            _ u: Double, _ v: Double, _ sx: Double, _ sy: Double, _ out: UnsafeMutablePointer<Float>
        ) {
            for band in 0..<bands { out[band] = 0 }
            var sum: Float = 0
            for y in Int((v - 2 * sy).rounded(.up))...Int((v + 2 * sy).rounded(.down)) {
                let down = Self.kernel(Float((Double(y) - v) / sy))
                let line = line(y)
                for x in Int((u - 2 * sx).rounded(.up))...Int((u + 2 * sx).rounded(.down)) {
                    let weight = down * Self.kernel(Float((Double(x) - u) / sx))
                    let pixel = line + offset(x)
                    for band in 0..<bands { out[band] += weight * pixel[band] }
                    sum += weight
                }
            }
            for band in 0..<bands { out[band] /= sum }
        }

        @inline(__always)
        private func offset(_ column: Int) -> Int {
            (min(max(column, columns.lowerBound), columns.upperBound) - input.left) * bands
        }

        @inline(__always)
        private func line(_ row: Int) -> UnsafeMutablePointer<Float> {
            input.row(min(max(row, rows.lowerBound), rows.upperBound) - input.top)
        }

        /// Of the four samples around a place a share t behind the second.
        @inline(__always)
        private static func weights(_ t: Float) -> (Float, Float, Float, Float) {
            let (t2, t3) = (t * t, t * t * t)
            return (
                -0.5 * t + t2 - 0.5 * t3, 1 - 2.5 * t2 + 1.5 * t3, 0.5 * t + 2 * t2 - 1.5 * t3,
                -0.5 * t2 + 0.5 * t3
            )
        }

        @inline(__always)
        private static func kernel(_ x: Float) -> Float {
            let t = abs(x)
            if t < 1 { return 1 + t * t * (1.5 * t - 2.5) }
            return t < 2 ? 2 + t * (-4 + t * (2.5 - 0.5 * t)) : 0
        }
    }
}
