import Edits
import Glibc

/// The way to level a flat slant: a picture is cut into stripes, and each is sheared vertically by itself.
///
/// Column x of a stripe that starts at x₀ is moved up by slope · (x − x₀). A level line then jumps by ``jump`` rows, an integer,
/// from stripe to stripe. Shearing the whole picture at once would need slope · width rows in memory; stripes need slope ·
/// ``period``.
struct StripeShear: Sendable {
    /// Rows down per column to the right, −1 to 1.
    let slope: Double
    /// Columns of a stripe.
    let period: Int
    /// Rows from one stripe to the next.
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
