package import Edits
import Filters

extension PixelArea {
    /// Converts a rectangle counted from the bottom to one counted from the top.
    package init(_ rectangle: PixelRectangle, of size: PixelSize) {
        self.init(
            left: rectangle.x, top: size.height - rectangle.y - rectangle.height,
            width: rectangle.width, height: rectangle.height)
    }
}

extension PixelRectangle {
    /// Converts a rectangle counted from the top to one counted from the bottom.
    package init(_ area: PixelArea, of size: PixelSize) {
        self.init(
            x: area.left, y: size.height - area.top - area.height, width: area.width,
            height: area.height)
    }
}

extension Geometry {
    /// Returns the map for pictures counted from the top, as in libvips, and for a shrunk source.
    package func downward(shrink: (columns: Int, rows: Int) = (1, 1)) -> Homography {
        let (columns, rows) = (Double(shrink.columns), Double(shrink.rows))
        return Homography(affine: 1 / columns, 0, 0, 0, -1 / rows, Double(source.height) / rows)
            * toSource * Homography(affine: 1, 0, 0, 0, -1, Double(size.height))
    }

    /// The whole factors by which the source may be shrunk before it is resampled: at least two samples are left for each pixel of
    /// the result, of which the kernel makes one.
    package var shrink: (columns: Int, rows: Int) {
        var least = (x: Double.infinity, y: Double.infinity)
        for point in visible {
            let stretch = toSource.stretch(at: point)
            least = (min(least.x, stretch.x), min(least.y, stretch.y))
        }
        func whole(_ stretch: Double, _ side: Int) -> Int {
            stretch.isFinite ? max(1, Int(min(stretch / 2, Double(side)))) : 1
        }
        return (whole(least.x, source.width), whole(least.y, source.height))
    }

    /// Returns the part of the shrunk source that is visible in a part of the result, all counted from the top; nil if no part is.
    ///
    /// - Parameter margin: pixels of the shrunk source that are read beyond the part.
    package func read(of area: PixelArea, margin: Int, shrink: (columns: Int, rows: Int))
        -> PixelArea?
    {
        let wanted = PixelRectangle(area, of: size)
        let reach = margin * max(shrink.columns, shrink.rows)
        guard let read = read(for: wanted, margin: reach) else { return nil }
        let full = PixelArea(read, of: source)
        let (left, top) = (full.left / shrink.columns, full.top / shrink.rows)
        return PixelArea(
            left: left, top: top,
            width: (full.left + full.width - 1) / shrink.columns - left + 1,
            height: (full.top + full.height - 1) / shrink.rows - top + 1)
    }

    /// Returns the geometry's result, made of rows from top to bottom.
    ///
    /// - Parameter source: read once, which must be possible, see ``Planner/streams(_:)``. A turn cannot be made of rows.
    package func rows(from source: any RowSource) -> any RowSource {
        switch kind {
        case .identity: return source
        case .crop(let part): return CroppedRows(source, to: part)
        case .turn: preconditionFailure("a turn lets pixels change places, which are no rows")
        case .scale: return ScaledRows(shrunk(source), self, shrink: shrink)
        case .warp: return WarpedRows(shrunk(source), self, shrink: shrink)
        }
    }

    private func shrunk(_ source: any RowSource) -> any RowSource {
        let shrink = shrink
        return shrink == (1, 1)
            ? source : BlockMeanRows(source, columns: shrink.columns, rows: shrink.rows)
    }
}

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
