import Adjustments

/// A picture filtered along its columns, its rows or both.
final class SeparableRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let columns: SymmetricKernel?
    private let rows: SymmetricKernel?
    private let filtered: ScratchRow
    private var y = 0

    /// - Parameters:
    ///   - window: that keeps ``SymmetricKernel/reach`` rows on both sides of one, and has as many columns for margin.
    ///   - columns: runs from left to right; nil to leave them.
    ///   - rows: runs from above to below; nil to leave them.
    init(_ window: RowWindow, columns: SymmetricKernel?, rows: SymmetricKernel?) {
        self.window = window
        self.columns = columns
        self.rows = rows
        format = window.format
        filtered = ScratchRow(
            width: format.width, planes: format.planes, margin: window.margin)
    }

    func next(into out: PlanarRow) {
        var row: PlanarRow
        if let rows {
            row = filtered.row
            rows.column(window, at: y, into: row, margin: columns?.reach ?? 0)
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
}
