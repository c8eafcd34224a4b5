package import Edits

/// Rows with per-pixel filters applied.
package final class FilteredRows: RowSource {
    private let source: any RowSource
    private let program: PixelProgram
    private var y = 0
    package var format: RowFormat { source.format }

    package init(_ source: any RowSource, _ program: PixelProgram) {
        self.source = source
        self.program = program
    }

    package func next(into row: PlanarRow) {
        source.next(into: row)
        program.run(
            row.start, at: (0, y), count: format.width, into: row.start, stride: row.stride)
        y += 1
    }
}
