package import Edits
import Filters

/// A part of a picture.
package final class CroppedRows: RowSource {
    package let format: RowFormat
    private let source: any RowSource
    private let whole: ScratchRow
    private let left: Int
    /// Rows above the part that must still be skipped.
    private var above: Int

    /// - Parameter part: counted from the bottom.
    package init(_ source: any RowSource, to part: PixelRectangle) {
        self.source = source
        format = RowFormat(width: part.width, height: part.height, planes: source.format.planes)
        whole = ScratchRow(width: source.format.width, planes: source.format.planes)
        left = part.x
        above = source.format.height - part.y - part.height
    }

    package func next(into row: PlanarRow) {
        while above > 0 {
            source.next(into: whole.row)
            above -= 1
        }
        source.next(into: whole.row)
        for plane in 0..<format.planes {
            row[plane].update(from: whole.row[plane] + left, count: format.width)
        }
    }
}
