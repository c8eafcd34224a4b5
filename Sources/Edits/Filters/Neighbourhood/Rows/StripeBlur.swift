import Edits
import Glibc

/// A Gaussian along the level lines of sheared stripes, on a coarse grid along the columns.
///
/// Each stripe has its own cells. A line continues in the cells of the adjacent stripes, several rows higher or lower. Cells at one
/// position in all stripes are contiguous, since their inputs are contiguous too: a plane of them is a row of stripes.
final class StripeBlur: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let shear: StripeShear
    private let grid: SplineGrid
    private let kernel: SymmetricKernel
    private let weights: [Float]
    private let line: StripeLine
    private let blurred: ScratchRow
    private var y = 0

    /// Cells before and after a stripe that enlarging needs.
    private static let before = 1
    private static let behind = 2

    /// - Parameters:
    ///   - source: the sheared stripes of a picture, with one more on either side.
    ///   - width: columns of the picture.
    init(
        _ source: any RowSource, shear: StripeShear, grid: SplineGrid,
        kernel: SymmetricKernel, width: Int, edge: EdgeMode
    ) {
        self.shear = shear
        self.grid = grid
        self.kernel = kernel
        format = RowFormat(
            width: width, height: source.format.height, planes: source.format.planes)
        weights = (0..<4).flatMap { cell in grid.enlargingWeights.map { $0[cell] } }
        line = StripeLine(
            stripes: source.format.width / shear.period, length: shear.period / grid.step,
            jump: shear.jump)
        let reach = kernel.reach + Self.behind
        window = RowWindow(
            StripeCells(source, grid, line, edge), rows: line.rows(within: reach),
            margin: line.beside(reach), edge: edge)
        blurred = ScratchRow(
            width: line.stripes, planes: line.length + Self.before + Self.behind)
    }

    func next(into out: PlanarRow) {
        for plane in 0..<format.planes {
            for cell in -Self.before..<line.length + Self.behind {
                blur(plane, cell, into: blurred.row[cell + Self.before])
            }
            enlarge(into: out[plane])
        }
        y += 1
    }

    private func blur(_ plane: Int, _ cell: Int, into target: UnsafeMutablePointer<Float>) {
        let count = line.stripes
        let middle = line.samples(window, plane, y, cell)
        for i in 0..<count { target[i] = kernel.weights[0] * middle[i] }
        for side in 1..<kernel.weights.count {
            let left = line.samples(window, plane, y, cell - side)
            let right = line.samples(window, plane, y, cell + side)
            let weight = kernel.weights[side]
            for i in 0..<count { target[i] += weight * (left[i] + right[i]) }
        }
    }

    private func enlarge(into out: UnsafeMutablePointer<Float>) {
        let step = grid.step
        weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            withUnsafeTemporaryAllocation(
                of: Float.self, capacity: line.length + 3 + step
            ) { memory in
                guard let cells = memory.baseAddress else { return }
                let last = cells + line.length + 3
                // The first stripe lies before the picture, and the last after it.
                for stripe in 1..<line.stripes - 1 {
                    for index in 0..<line.length + 3 {
                        cells[index] = blurred.row[index][stripe]
                    }
                    let first = (stripe - 1) * shear.period
                    let wanted = min(format.width - first, shear.period)
                    let whole = wanted / step
                    let cell = cells + Self.before
                    grid.enlarge(cell, weights, whole, into: out + first)
                    if whole * step < wanted {
                        // The picture ends within a block.
                        grid.enlarge(cell + whole, weights, 1, into: last)
                        (out + first + whole * step).update(
                            from: last, count: wanted - whole * step)
                    }
                }
            }
        }
    }
}

/// The course of a picture's level lines through its stripes.
struct StripeLine {
    /// Stripes, with one more before and one after the picture.
    let stripes: Int
    let length: Int
    let jump: Int

    /// Returns the number of stripes to each side that a line reaches within some cells.
    func beside(_ reach: Int) -> Int { (reach + length - 1) / length }

    /// Returns the number of rows that a line traverses within some cells.
    func rows(within reach: Int) -> Int { 2 * beside(reach) * abs(jump) + 1 }

    /// Returns the samples at one position of the lines of all stripes in a row.
    ///
    /// - Parameters:
    ///   - group: the index of the group of ``length`` planes, one for each cell of a stripe.
    ///   - cell: may lie before or after the stripe itself.
    func samples(_ window: RowWindow, _ group: Int, _ y: Int, _ cell: Int)
        -> UnsafeMutablePointer<Float>
    {
        let beside = cell >= 0 ? cell / length : (cell + 1) / length - 1
        return window.row(y + beside * jump)[group * length + cell - beside * length] + beside
    }
}

/// The cells of each stripe.
private final class StripeCells: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let line: StripeLine
    private var y = 0

    init(_ source: any RowSource, _ grid: SplineGrid, _ line: StripeLine, _ edge: EdgeMode) {
        window = RowWindow(
            BlockShares(source, grid, line), rows: line.rows(within: 2),
            margin: line.beside(2), edge: edge)
        self.line = line
        format = RowFormat(
            width: line.stripes, height: source.format.height,
            planes: source.format.planes * line.length)
    }

    func next(into out: PlanarRow) {
        for plane in 0..<format.planes / line.length {
            for cell in 0..<line.length {
                // A cell is the first of the four for the block after it, and so on.
                let a = line.samples(window, 4 * plane, y, cell + 1)
                let b = line.samples(window, 4 * plane + 1, y, cell)
                let c = line.samples(window, 4 * plane + 2, y, cell - 1)
                let d = line.samples(window, 4 * plane + 3, y, cell - 2)
                let target = out[plane * line.length + cell]
                for i in 0..<line.stripes { target[i] = (a[i] + b[i]) + (c[i] + d[i]) }
            }
        }
        y += 1
    }
}

/// The contributions of each block of pixels to four cells.
private final class BlockShares: RowSource {
    let format: RowFormat
    private let source: any RowSource
    private let grid: SplineGrid
    private let stripeLength: Int
    private let weights: [Quartet]
    private let pixels: ScratchRow

    init(_ source: any RowSource, _ grid: SplineGrid, _ line: StripeLine) {
        self.source = source
        self.grid = grid
        stripeLength = line.length
        weights = grid.phases
        pixels = ScratchRow(width: source.format.width, planes: source.format.planes)
        format = RowFormat(
            width: line.stripes, height: source.format.height,
            planes: 4 * source.format.planes * line.length)
    }

    func next(into out: PlanarRow) {
        source.next(into: pixels.row)
        let step = grid.step
        weights.withUnsafeBufferPointer { weights in
            for plane in 0..<source.format.planes {
                var pixel = pixels.row[plane]
                let target = out[4 * plane * stripeLength]
                let next = stripeLength * out.stride
                for stripe in 0..<format.width {
                    for cell in 0..<stripeLength {
                        var sum = Quartet.zero
                        for i in 0..<step { sum += weights[i] * pixel[i] }
                        let share = target + (cell * out.stride + stripe)
                        share[0] = sum[0]
                        share[next] = sum[1]
                        share[2 * next] = sum[2]
                        share[3 * next] = sum[3]
                        pixel += step
                    }
                }
            }
        }
    }
}

/// The way to level a flat slant: a picture is cut into stripes, and each is sheared vertically by itself.
///
/// Column x of a stripe that starts at x₀ is moved up by slope · (x − x₀). A level line then jumps by ``jump`` rows, an integer,
/// from stripe to stripe. Shearing the whole picture at once would need slope · width rows in memory; stripes need slope ·
/// ``period``.
struct StripeShear: Sendable {
    /// Rows down per column to the right, −1 to 1.
    let slope: Double
    let period: Int
    let jump: Int

    /// - Parameter step: the period is a multiple of it, at least twice as long.
    ///
    /// The period is the candidate whose jump is closest to an integer.
    init(slope: Double, step: Int) {
        self.slope = slope
        func miss(_ period: Int) -> Double {
            let rows = slope * Double(period)
            return abs(rows - rows.rounded()) / Double(period)
        }
        let periods = stride(
            from: Self.periods.lowerBound, through: Self.periods.upperBound, by: step)
        period = periods.min { miss($0) < miss($1) } ?? Self.periods.lowerBound
        jump = Int((slope * Double(period)).rounded())
    }

    /// Short enough for few rows in memory, long enough that some jump is nearly an integer.
    static let periods = 64...192

    /// The most rows by which shearing moves samples.
    var rows: Int { Int((abs(slope) * Double(period)).rounded(.up)) + 1 }
}

/// A picture's stripes, sheared.
final class StripeShearedRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let first: Int
    private var y: Int
    private let period: Int
    /// By column of a stripe, the row above the sample, relative to the first row that is read, and the weight of the row below.
    private let offsets: [Int]
    private let shares: [Float]
    /// The first row that is read, relative to the current row.
    private let lowest: Int
    private let count: Int

    /// - Parameters:
    ///   - slope: sample (x, y) is the picture's at (x, y + slope · (x mod period)).
    ///   - columns, rows: those of the result; beyond the picture, `edge` applies.
    init(
        _ source: any RowSource, slope: Double, period: Int, columns: Range<Int>,
        rows: Range<Int>, edge: EdgeMode
    ) {
        let margin = max(-columns.lowerBound, columns.upperBound - source.format.width, 0)
        let moves = (0..<period).map { slope * Double($0) }
        let wholes = moves.map { Int($0.rounded(.down)) }
        lowest = wholes.min() ?? 0
        count = (wholes.max() ?? 0) + 2 - lowest
        offsets = wholes.map { [lowest] in $0 - lowest }
        shares = moves.map { Float($0 - $0.rounded(.down)) }
        window = RowWindow(source, rows: count, margin: margin, edge: edge)
        self.period = period
        first = columns.lowerBound
        y = rows.lowerBound
        format = RowFormat(
            width: columns.count, height: rows.count, planes: source.format.planes)
    }

    func next(into out: PlanarRow) {
        _ = window.row(y + lowest + count - 1)
        let stride = window.row(y + lowest).stride
        let rows = (0..<count).map { UnsafePointer(window.row(y + lowest + $0).start) }
        let (starts, nexts) = (offsets.map { rows[$0] }, offsets.map { rows[$0 + 1] })
        y += 1
        starts.withUnsafeBufferPointer { starts in
            nexts.withUnsafeBufferPointer { nexts in
                shares.withUnsafeBufferPointer { shares in
                    guard let starts = starts.baseAddress, let nexts = nexts.baseAddress,
                        let shares = shares.baseAddress
                    else { return }
                    for plane in 0..<format.planes {
                        var at = first
                        while at < first + format.width {
                            // The position in a stripe, which determines the distance to the stripe's end.
                            let phase = ((at % period) + period) % period
                            let run = min(period - phase, first + format.width - at)
                            Self.fill(
                                out[plane] + (at - first), run, starts + phase, nexts + phase,
                                shares + phase, at: plane * stride + at)
                            at += run
                        }
                    }
                }
            }
        }
    }

    /// Computes a part of a row. Neighbouring columns are read from different rows, so the loop cannot be vectorized, but each
    /// cache line is used for as many rows as it has columns.
    @inline(__always)
    private static func fill(
        _ out: UnsafeMutablePointer<Float>, _ count: Int,
        _ starts: UnsafePointer<UnsafePointer<Float>>,
        _ nexts: UnsafePointer<UnsafePointer<Float>>, _ shares: UnsafePointer<Float>, at: Int
    ) {
        for i in 0..<count {
            let (a, b) = (starts[i][at + i], nexts[i][at + i])
            out[i] = a + shares[i] * (b - a)
        }
    }
}
