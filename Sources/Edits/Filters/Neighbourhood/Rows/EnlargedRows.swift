import Edits

/// A picture on a grid's columns, rows or both, made by ``ShrunkRows``, enlarged to full resolution.
final class EnlargedRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let columns: SplineGrid?
    private let rows: SplineGrid?
    private let mixed: ScratchRow
    /// For steps that write further beyond a row than it has room; see ``RowFormat/block``.
    private let line: ScratchRow?
    private let rowWeights: [Quartet]
    /// By cell, the weights of all positions in a step.
    private let columnWeights: [Float]
    private var y = 0

    /// - Parameters:
    ///   - cells: the small picture.
    ///   - format: the format of the original picture.
    init(
        _ cells: any RowSource, columns: SplineGrid?, rows: SplineGrid?, to format: RowFormat,
        edge: EdgeMode
    ) {
        self.columns = columns
        self.rows = rows
        self.format = format
        window = RowWindow(
            cells, rows: rows == nil ? 1 : 4, margin: columns == nil ? 0 : 4, edge: edge)
        mixed = ScratchRow(
            width: cells.format.width, planes: format.planes, margin: window.margin)
        let step = columns?.step ?? 0
        line = step > RowFormat.block ? ScratchRow(width: format.width + step, planes: 1) : nil
        rowWeights = rows?.enlargingWeights ?? []
        columnWeights =
            columns.map { grid in
                (0..<4).flatMap { cell in grid.enlargingWeights.map { $0[cell] } }
            } ?? []
    }

    func next(into out: PlanarRow) {
        enlarge(rows.map { mix(y, $0) } ?? window.row(y), into: out)
        y += 1
    }

    /// Computes a row at full vertical resolution, still on the grid's columns.
    private func mix(_ y: Int, _ grid: SplineGrid) -> PlanarRow {
        let weights = rowWeights[y % grid.step]
        let first = y / grid.step - 1 + SplineGrid.before
        _ = window.row(first + 3)
        let rows = (0..<4).map { window.row(first + $0) }
        let margin = window.margin
        for plane in 0..<format.planes {
            SplineGrid.mix(
                rows.map { $0[plane] - margin }, weights, into: mixed.row[plane] - margin,
                window.format.width + 2 * margin)
        }
        return mixed.row
    }

    private func enlarge(_ row: PlanarRow, into out: PlanarRow) {
        let width = format.width
        guard let columns else {
            for plane in 0..<format.planes { out[plane].update(from: row[plane], count: width) }
            return
        }
        let blocks = (width + columns.step - 1) / columns.step
        columnWeights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            for plane in 0..<format.planes {
                columns.enlarge(
                    row[plane] + SplineGrid.before, weights, blocks,
                    into: line?.row[0] ?? out[plane])
                if let line { out[plane].update(from: line.row[0], count: width) }
            }
        }
    }
}
