import Edits
import Glibc

/// A one-dimensional Gaussian along any direction, whose cost does not grow with its width.
///
/// It has a sample at every column of a flat direction, or at every row of a steep one, interpolated between the two adjacent
/// pixels. A narrow blur is a weighted sum. A wide one shears the picture until the direction is horizontal or vertical, blurs on a
/// coarse grid, and shears back: a steep one row by row, a flat one in stripes (``StripeShear``), since it would otherwise need a
/// whole picture of rows. Shearing forth and back interpolates twice, so a wide slanted blur is softer across its direction by σ =
/// 0.4 pixels.
struct DirectionalBlur: Sendable {
    let edge: EdgeMode
    private let sigma: Double
    private let slope: Double
    private let isSteep: Bool

    /// - Parameters:
    ///   - sigma: in pixels along the direction.
    ///   - angle: counter-clockwise from the right, in radians.
    init(sigma: Double, angle: Double, edge: EdgeMode) {
        let (dx, dy) = (cos(angle), -sin(angle))
        isSteep = abs(dy) > abs(dx)
        let slope = isSteep ? dx / dy : dy / dx
        // A deviation of less than a twentieth of a pixel at the end is invisible, and a level direction is much cheaper.
        self.slope = abs(slope) * SymmetricKernel.cutoff * sigma < 0.05 ? 0 : slope
        self.sigma = sigma * (isSteep ? abs(dy) : abs(dx))
        self.edge = edge
    }

    var reach: Extent {
        let along = Int((SymmetricKernel.cutoff * sigma).rounded(.up))
        let across = slope == 0 ? 0 : Int((Double(along) * abs(slope)).rounded(.up)) + 1
        return isSteep
            ? Extent(columns: across, rows: along) : Extent(columns: along, rows: across)
    }

    func rows(from source: any RowSource) -> any RowSource {
        guard sigma > 0 else { return source }
        if slope == 0 {
            return GaussianBlur(
                columns: isSteep ? 0 : sigma, rows: isSteep ? sigma : 0, edge: edge
            ).rows(from: source)
        }
        guard let grid = SplineGrid.forGaussian(sigma: sigma, stepMax: Self.stepMax) else {
            return summed(source)
        }
        return isSteep ? sheared(source) : sheared(source, grid)
    }

    /// Stripes must be cut at whole cells, so cells must not be too wide.
    private static let stepMax = 32

    private func sheared(_ source: any RowSource) -> any RowSource {
        let (width, height) = (source.format.width, source.format.height)
        let end = Int((slope * Double(height)).rounded(.awayFromZero))
        // All columns to which any row is moved, and two for interpolation.
        let columns = min(0, -end) - 2..<width + max(0, -end) + 2
        // Rows outside of a clamped picture are sheared too.
        let beyond = edge == .clamp ? reach.rows : 0
        let upright = ShiftedRows(
            source, slope: slope, still: 0, columns: columns, rows: -beyond..<height + beyond,
            edge: edge)
        let blurred = GaussianBlur(columns: 0, rows: sigma, edge: edge).rows(from: upright)
        return ShiftedRows(
            blurred, slope: -slope, still: beyond,
            columns: -columns.lowerBound..<width - columns.lowerBound,
            rows: beyond..<beyond + height, edge: edge)
    }

    private func sheared(_ source: any RowSource, _ grid: SplineGrid) -> any RowSource {
        let shear = StripeShear(slope: slope, step: grid.step)
        let (width, height) = (source.format.width, source.format.height)
        let stripes = (width + shear.period - 1) / shear.period
        let level = StripeShearedRows(
            source, slope: slope, period: shear.period,
            columns: -shear.period..<(stripes + 1) * shear.period,
            rows: -shear.rows..<height + shear.rows, edge: edge)
        let blurred = StripeBlur(
            level, shear: shear, grid: grid, kernel: grid.gaussian(sigma: sigma), width: width,
            edge: edge)
        return StripeShearedRows(
            blurred, slope: -slope, period: shear.period, columns: 0..<width,
            rows: shear.rows..<shear.rows + height, edge: edge)
    }

    private func summed(_ source: any RowSource) -> any RowSource {
        let taps = taps
        let reach = max(reach.columns, reach.rows)
        return WindowRows(source, reach: reach, edge: edge) { window, y, out in
            _ = window.row(y + reach)
            for plane in 0..<window.format.planes {
                let target = out[plane]
                let width = window.format.width
                target.update(repeating: 0, count: width)
                for tap in taps {
                    let source = window.row(y + tap.row)[plane] + tap.column
                    let weight = tap.weight
                    for x in 0..<width { target[x] += weight * source[x] }
                }
            }
        }
    }

    /// One pixel of a weighted sum, by its offset from the centre.
    private struct Tap {
        let column, row: Int
        let weight: Float
    }

    private var taps: [Tap] {
        let kernel = SymmetricKernel.gaussian(sigma: sigma)
        var taps: [Tap] = []
        for along in -kernel.reach...kernel.reach {
            let across = Double(along) * slope
            let whole = across.rounded(.down)
            for (offset, share) in [(0, 1 - (across - whole)), (1, across - whole)]
            where share > 1e-6 {
                let minor = Int(whole) + offset
                taps.append(
                    Tap(
                        column: isSteep ? minor : along, row: isSteep ? along : minor,
                        weight: kernel.weights[abs(along)] * Float(share)))
            }
        }
        return taps
    }
}

/// A sheared picture: each row is shifted by `slope` more than the one above.
///
/// Values between two pixels are interpolated linearly.
final class ShiftedRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let slope: Double
    private let first: Int
    private let still: Int
    private var y: Int

    /// - Parameters:
    ///   - slope: pixel x of row y is the picture's at x + slope · (y − still).
    ///   - columns, rows: those of the result; beyond the picture, `edge` applies.
    init(
        _ source: any RowSource, slope: Double, still: Int, columns: Range<Int>,
        rows: Range<Int>, edge: EdgeMode
    ) {
        window = RowWindow(source, rows: 1, margin: 2, edge: edge)
        self.slope = slope
        self.still = still
        first = columns.lowerBound
        y = rows.lowerBound
        format = RowFormat(
            width: columns.count, height: rows.count, planes: source.format.planes)
    }

    func next(into out: PlanarRow) {
        let row = window.row(y)
        let shift = slope * Double(y - still) + Double(first)
        y += 1
        let whole = shift.rounded(.down)
        let share = Float(shift - whole)
        // Output columns whose left source pixel is from −1 to the last.
        let start = Int(whole)
        let from = min(max(-1 - start, 0), format.width)
        let end = min(max(window.format.width - start, from), format.width)
        for plane in 0..<format.planes {
            let (target, source) = (out[plane], row[plane])
            let left = source + start
            for x in from..<end { target[x] = left[x] + share * (left[x + 1] - left[x]) }
            target.update(repeating: source[-1], count: from)
            (target + end).update(
                repeating: source[window.format.width], count: format.width - end)
        }
    }
}
