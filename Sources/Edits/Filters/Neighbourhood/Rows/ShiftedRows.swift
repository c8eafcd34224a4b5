import Edits

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
