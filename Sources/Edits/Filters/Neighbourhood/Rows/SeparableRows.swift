import Edits

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
