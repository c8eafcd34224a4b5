import Edits
import Glibc

/// A Gaussian blur along columns, rows or both, whose cost does not grow with its width.
///
/// A narrow one is a weighted sum of neighbours. A wide one is computed on a coarse grid (``SplineGrid``),
/// where it is narrow again.
///
/// Alternatives that were measured, 24 MP, JPEG to JPEG, one thread of Zen 4, as multiples of decoding and encoding alone (0.099
/// s):
///
/// | how | radius 2.9 | 8 | 100 |
/// |---|---:|---:|---:|
/// | sums of neighbours, two pairs at a time through memory | 5.9 | | |
/// | sums of neighbours, eight in registers | 4.2 | | |
/// | coarse grid, cubic B-splines, σ of 1.5 to 3 steps | | 2.6 | 2.2 |
/// | libvips, integers on encoded values | | 6.6 | |
///
/// On the grid, a spline of two boxes instead of four has an error of 4 codes at σ = 1.5 steps and still 0.5 at 4; cutting kernels
/// at 3 σ instead of 3.75 has an error of 2.4 codes beside white.
struct GaussianBlur: Sendable {
    /// Along a row, and along a column, in pixels; 0 leaves that direction unchanged.
    let sigma: (columns: Double, rows: Double)
    let edge: EdgeMode
    let space: Space

    /// The encoding of the blurred values.
    enum Space {
        /// Linear light, as in Core Image.
        case linear
        /// sRGB-encoded values, as in CSS, and in Core Image until iOS 8.
        case encoded
    }

    private let stepMax: Int
    private let columns: Axis?
    private let rows: Axis?

    init(
        columns: Double, rows: Double, edge: EdgeMode = .clamp, space: Space = .linear,
        stepMax: Int = .max
    ) {
        sigma = (columns, rows)
        self.edge = edge
        self.space = space
        self.stepMax = stepMax
        self.columns = Axis(columns, stepMax)
        self.rows = Axis(rows, stepMax)
    }

    /// The distance to each side beyond which all weights are negligible.
    var reach: Extent { Extent(columns: columns?.reach ?? 0, rows: rows?.reach ?? 0) }

    /// Multiplications per sample of a large picture: four to shrink and four to enlarge in each direction, half of them on a side
    /// that is already small, and the kernels on the grid.
    var multiplications: Double {
        let (x, y) = (columns?.step ?? 1, rows?.step ?? 1)
        let weights = (columns?.kernel.weights.count ?? 0) + (rows?.kernel.weights.count ?? 0)
        return (rows?.grid == nil ? 0 : 4 + 4 / x) + (columns?.grid == nil ? 0 : 4 + 4 / y)
            + Double(weights) / (x * y)
    }

    /// Rows, from the current row on, that the window must keep so that it can be read together with the blur: the distance by
    /// which the blur reads ahead.
    var ahead: Int { rows?.ahead ?? 0 }

    /// Columns beside the picture that the window must have.
    var margin: Int {
        guard let columns else { return 0 }
        return columns.grid.map { ShrunkRows.margin(for: $0) }
            ?? columns.kernel.reach
    }

    /// Rows that the window must keep for the blur alone.
    var windowRows: Int {
        guard let rows else { return 1 }
        return rows.grid == nil ? 2 * rows.kernel.reach + SeparableRows.together : 2
    }

    func rows(from source: any RowSource) -> any RowSource {
        rows(in: RowWindow(source, rows: windowRows, margin: margin, edge: edge))
    }

    /// Blurs a picture whose window has other readers too.
    func rows(in window: RowWindow) -> any RowSource {
        guard space == .linear else {
            let encoded = CurvedRows(CopiedRows(window), .encoding)
            let blur = GaussianBlur(
                columns: sigma.columns, rows: sigma.rows, edge: edge, stepMax: stepMax)
            return CurvedRows(blur.rows(from: encoded), .decoding)
        }
        let full = window.format
        let (gridX, gridY) = (columns?.grid, rows?.grid)
        if gridX == nil, gridY == nil {
            return SeparableRows(
                window, columns: columns?.kernel, rows: rows?.kernel,
                together: SeparableRows.together)
        }
        let small = RowWindow(
            ShrunkRows(window, columns: gridX, rows: gridY, edge: edge),
            rows: 2 * (rows?.kernel.reach ?? 0) + 1, margin: columns?.kernel.reach ?? 0,
            edge: edge)
        return EnlargedRows(
            SeparableRows(small, columns: columns?.kernel, rows: rows?.kernel),
            columns: gridX, rows: gridY, to: full, edge: edge)
    }

    /// One direction.
    struct Axis: Sendable {
        let grid: SplineGrid?
        let kernel: SymmetricKernel
        let reach: Int

        init?(_ sigma: Double, _ stepMax: Int) {
            guard sigma > 0 else { return nil }
            grid = SplineGrid.forGaussian(sigma: sigma, stepMax: stepMax)
            kernel = grid?.gaussian(sigma: sigma) ?? .gaussian(sigma: sigma)
            reach = Int((SymmetricKernel.cutoff * sigma).rounded(.up))
        }

        var step: Double { Double(grid?.step ?? 1) }

        var ahead: Int {
            // Two cells for enlarging, the kernel, and two for shrinking, from the next whole cell on.
            grid.map { ($0.step * (kernel.reach + 4)) }
                ?? (kernel.reach + SeparableRows.together - 1)
        }
    }
}

/// A picture filtered along its columns, its rows or both.
final class SeparableRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let columns: SymmetricKernel?
    private let rows: SymmetricKernel?
    /// Rows filtered horizontally; row y is at y mod their number.
    private let filtered: [ScratchRow]
    private var y = 0

    /// Rows that are filtered together: each row of the window is then read from the outer caches once for all of them.
    static let together = 8
    /// Columns that are processed at a time: with the rows of a usual sharpening they take some 30 KB, which stay in the
    /// first-level cache.
    private static let block = 256

    /// - Parameters:
    ///   - window: keeps 2 · ``SymmetricKernel/reach`` rows and the rows that are made together; its margin is at least the reach.
    ///   - columns: the horizontal kernel; nil for none.
    ///   - rows: the vertical kernel; nil for none.
    ///   - together: the number of rows made together; the window is read this many rows further ahead, less one.
    init(
        _ window: RowWindow, columns: SymmetricKernel?, rows: SymmetricKernel?, together: Int = 1
    ) {
        self.window = window
        self.columns = columns
        self.rows = rows
        format = window.format
        filtered = (0..<(rows == nil ? 0 : together)).map { [format] _ in
            ScratchRow(width: format.width, planes: format.planes, margin: window.margin)
        }
    }

    func next(into out: PlanarRow) {
        var row: PlanarRow
        if let rows {
            if y % filtered.count == 0 { filterColumns(rows) }
            row = filtered[y % filtered.count].row
        } else {
            row = window.row(y)
        }
        y += 1
        if let columns {
            columns.row(row, into: out, width: format.width, planes: format.planes)
        } else {
            for plane in 0..<format.planes {
                out[plane].update(from: row[plane], count: format.width)
            }
        }
    }

    private func filterColumns(_ kernel: SymmetricKernel) {
        let count = min(filtered.count, format.height - y)
        _ = window.row(y + kernel.reach + count - 1)
        let rows = (-kernel.reach..<kernel.reach + count).map { window.row(y + $0) }
        // The margin is whole cache lines, so that no samples that are read together cross a line.
        let margin = columns == nil ? 0 : window.margin
        for plane in 0..<format.planes {
            let lines = rows.map { UnsafePointer($0[plane]) }
            for first in stride(from: -margin, to: format.width + margin, by: Self.block) {
                let width = min(Self.block, format.width + margin - first)
                for row in 0..<count {
                    kernel.column(
                        lines[row...row + 2 * kernel.reach], from: first,
                        into: filtered[row].row[plane] + first, count: width)
                }
            }
        }
    }
}

/// A picture with a curve applied to its colours, which are divided by alpha before and multiplied after it.
final class CurvedRows: RowSource {
    private let source: any RowSource
    private let curve: LightCurve
    var format: RowFormat { source.format }

    init(_ source: any RowSource, _ curve: LightCurve) {
        self.source = source
        self.curve = curve
    }

    func next(into row: PlanarRow) {
        source.next(into: row)
        let width = format.width
        let alpha = format.planes == 4 ? row[3] : nil
        for plane in 0..<3 {
            let colour = row[plane]
            if let alpha {
                for x in 0..<width { colour[x] = alpha[x] > 0 ? colour[x] / alpha[x] : 0 }
            }
            curve.applySigned(to: colour, count: width)
            if let alpha { for x in 0..<width { colour[x] *= alpha[x] } }
        }
    }
}

/// A picture combined, row by row, with a blur of itself. The picture is read once.
///
/// The picture's rows are kept for as long as the blur reads ahead: at most 816 rows, see
/// ``BlurParameters/combined(_:edge:space:)``, which take 59 MB for 6000 pixels and three planes.
/// most, 816 rows, which of 6000 pixels of three planes take 59 MB.
final class CombinedRows: RowSource {
    /// Computes a row of the result from a row of the picture and a row of its blur.
    typealias Combine = (
        _ picture: PlanarRow, _ blurred: PlanarRow, _ out: PlanarRow, _ format: RowFormat
    ) -> Void

    let format: RowFormat
    private let window: RowWindow
    private let blur: any RowSource
    private let blurred: ScratchRow
    private let combine: Combine
    private var y = 0

    /// Creates a combination with a blur of all planes.
    convenience init(
        _ source: any RowSource, with blur: GaussianBlur, _ combine: @escaping Combine
    ) {
        let window = RowWindow(
            source, rows: max(blur.ahead + 1, blur.windowRows), margin: blur.margin,
            edge: blur.edge)
        self.init(window, blur.rows(in: window), combine)
    }

    /// Creates a combination with a blur of the luminance, or of another single plane that `make` computes.
    convenience init(
        _ source: any RowSource, withPlane make: @escaping PlaneRows.Make,
        blurredBy blur: GaussianBlur, _ combine: @escaping Combine
    ) {
        let window = RowWindow(source, rows: blur.ahead + 1, margin: 0, edge: blur.edge)
        self.init(window, blur.rows(from: PlaneRows(window, make)), combine)
    }

    private init(_ window: RowWindow, _ blur: any RowSource, _ combine: @escaping Combine) {
        self.window = window
        self.blur = blur
        self.combine = combine
        format = window.format
        blurred = ScratchRow(width: format.width, planes: blur.format.planes)
    }

    func next(into out: PlanarRow) {
        blur.next(into: blurred.row)
        combine(window.row(y), blurred.row, out, format)
        y += 1
    }
}

/// The rows of a window as a source.
final class CopiedRows: RowSource {
    private let window: RowWindow
    private var y = 0
    var format: RowFormat { window.format }

    init(_ window: RowWindow) { self.window = window }

    func next(into out: PlanarRow) {
        let row = window.row(y)
        for plane in 0..<format.planes { out[plane].update(from: row[plane], count: format.width) }
        y += 1
    }
}

/// One plane computed from the planes of a picture.
final class PlaneRows: RowSource {
    typealias Make = (
        _ row: PlanarRow, _ out: UnsafeMutablePointer<Float>, _ width: Int
    ) -> Void

    let format: RowFormat
    private let window: RowWindow
    private let make: Make
    private var y = 0

    init(_ window: RowWindow, _ make: @escaping Make) {
        self.window = window
        self.make = make
        format = RowFormat(width: window.format.width, height: window.format.height, planes: 1)
    }

    func next(into out: PlanarRow) {
        make(window.row(y), out.start, format.width)
        y += 1
    }

    /// Computes the luminance, multiplied by alpha like the planes.
    static func luminance(_ row: PlanarRow, _ out: UnsafeMutablePointer<Float>, _ width: Int) {
        let (red, green, blue) = (row[0], row[1], row[2])
        for x in 0..<width { out[x] = Luminance.of(red[x], green[x], blue[x]) }
    }
}

/// Symmetric weights for a filter along rows or columns.
struct SymmetricKernel: Sendable {
    /// The weight of the centre, then of its neighbours to either side; the sum, with both sides counted, is 1.
    let weights: [Float]
    var reach: Int { weights.count - 1 }

    /// Creates a kernel from weights, which are scaled to a sum of 1.
    init(_ weights: [Double]) {
        let sum = weights[0] + 2 * weights.dropFirst().reduce(0, +)
        self.weights = weights.map { Float($0 / sum) }
    }

    /// The distance, in σ, at which a Gaussian is cut. The rest has 0.018 % of its weight, which beside a white edge is 0.05 steps
    /// of an 8-bit code in the darkest shadows; cut at 3 σ it would be 2.4.
    static let cutoff = 3.75

    /// Returns a Gaussian's values at whole pixels. Valid from σ = 0.5; below, its integral over a pixel would differ.
    static func gaussian(sigma: Double) -> SymmetricKernel {
        let reach = Int((cutoff * sigma).rounded(.up))
        return SymmetricKernel((0...reach).map { exp(-0.5 * pow(Double($0) / sigma, 2)) })
    }
}

extension SymmetricKernel {
    /// Filters columns: computes samples of one row from those of the rows around it.
    ///
    /// - Parameters:
    ///   - lines: sample 0 of each row, from ``reach`` above to as many below.
    ///   - first: the first sample that is read.
    func column(
        _ lines: ArraySlice<UnsafePointer<Float>>, from first: Int,
        into target: UnsafeMutablePointer<Float>, count: Int
    ) {
        lines.withUnsafeBufferPointer { lines in
            guard let middle = lines.baseAddress.map({ $0 + reach }) else { return }
            sum(into: target, count) { middle[$0] + first }
        }
    }

    /// Filters a row, which has ``reach`` more columns on both sides.
    func row(_ row: PlanarRow, into out: PlanarRow, width: Int, planes: Int) {
        for plane in 0..<planes {
            let source = UnsafePointer(row[plane])
            sum(into: out[plane], width) { source + $0 }
        }
    }

    /// Computes thirty-two sums at a time, which stay in registers, then eight. Up to seven more than requested are computed.
    ///
    /// - Parameter source: returns the samples at a distance to one side; negative to the other.
    @inline(__always)
    private func sum(
        into target: UnsafeMutablePointer<Float>, _ count: Int,
        _ source: (_ side: Int) -> UnsafePointer<Float>
    ) {
        weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            let middle = source(0)
            var i = 0
            while i &+ 24 < count {
                let own = Octet(repeating: weights[0])
                var (a, b) = (own * middle.octet(i), own * middle.octet(i &+ 8))
                var (c, d) = (own * middle.octet(i &+ 16), own * middle.octet(i &+ 24))
                var side = 1
                while side <= reach {
                    let (left, right) = (source(-side) + i, source(side) + i)
                    let weight = Octet(repeating: weights[side])
                    a += weight * (left.octet(0) + right.octet(0))
                    b += weight * (left.octet(8) + right.octet(8))
                    c += weight * (left.octet(16) + right.octet(16))
                    d += weight * (left.octet(24) + right.octet(24))
                    side &+= 1
                }
                target.setOctet(i, a)
                target.setOctet(i &+ 8, b)
                target.setOctet(i &+ 16, c)
                target.setOctet(i &+ 24, d)
                i &+= 32
            }
            while i < count {
                var sum = Octet(repeating: weights[0]) * middle.octet(i)
                var side = 1
                while side <= reach {
                    let (left, right) = (source(-side) + i, source(side) + i)
                    sum += Octet(repeating: weights[side]) * (left.octet(0) + right.octet(0))
                    side &+= 1
                }
                target.setOctet(i, sum)
                i &+= 8
            }
        }
    }
}
