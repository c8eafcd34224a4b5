package import Edits

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
}

extension Geometry {
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
}
