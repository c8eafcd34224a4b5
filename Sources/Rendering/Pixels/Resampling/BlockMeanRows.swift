package import Edits
import Filters

/// The means of blocks of columns and rows. The outermost pixels are repeated to fill the last blocks.
package final class BlockMeanRows: RowSource {
    package let format: RowFormat
    private let source: any RowSource
    private let columns, rows: Int
    private let row, sums: ScratchRow
    private var left: Int

    package init(_ source: any RowSource, columns: Int, rows: Int) {
        self.source = source
        (self.columns, self.rows) = (columns, rows)
        let full = source.format
        format = RowFormat(
            width: (full.width + columns - 1) / columns,
            height: (full.height + rows - 1) / rows, planes: full.planes)
        row = ScratchRow(width: full.width, planes: full.planes)
        sums = ScratchRow(width: full.width, planes: full.planes)
        left = full.height
    }

    /// Returns the bytes that it keeps.
    package static func bytes(of full: RowFormat) -> Int {
        2 * full.width * full.planes * MemoryLayout<Float>.stride
    }

    package func next(into out: PlanarRow) {
        let width = source.format.width
        for number in 0..<rows {
            // Below the picture, its last row is repeated.
            if left > 0 { source.next(into: row.row) }
            left -= 1
            for plane in 0..<format.planes {
                let (sum, samples) = (sums.row[plane], row.row[plane])
                if number == 0 {
                    sum.update(from: samples, count: width)
                } else {
                    for x in 0..<width { sum[x] += samples[x] }
                }
            }
        }
        let share = 1 / Float(columns * rows)
        for plane in 0..<format.planes {
            let (sum, target) = (sums.row[plane], out[plane])
            for block in 0..<format.width {
                var total: Float = 0
                for x in block * columns..<(block + 1) * columns { total += sum[min(x, width - 1)] }
                target[block] = total * share
            }
        }
    }
}
