extension Geometry {
    /// Rows of the result that are interpolated from the same rows of the source.
    public static let strip = 8

    /// Returns the smallest rectangle of the source that is visible in a part of the result; nil if no part is visible.
    ///
    /// - Parameter margin: pixels to each side that are read too. The rectangle is clipped to ``part``.
    public func read(for area: PixelRectangle, margin: Int) -> PixelRectangle? {
        let shape = Edge.around(area).reduce(visible) { $1.cut($0) }
        return shape.isEmpty ? nil : bounds(of: shape.map { toSource($0) }, margin: margin)
    }

    /// The geometry in two parts: a crop to the pixels that are read, and the rest. The crop is nil if all pixels are read.
    public var cutting: (crop: Geometry?, rest: Geometry) {
        let widest = visible.reduce(1.0) { widest, point in
            let stretch = toSource.stretch(at: point)
            return max(widest, stretch.x, stretch.y)
        }
        // Lanczos reads three pixels of the result in each direction; one more allows for rounding.
        let margin = Int(min(3 * widest, Double(max(source.width, source.height)))) + 2
        guard let area = read(for: PixelRectangle(size), margin: margin),
            area != PixelRectangle(source)
        else { return (nil, self) }
        let rest = Geometry(
            source: area.size, size: size,
            toSource: .shift(-Double(area.x), -Double(area.y)) * toSource,
            part: PixelRectangle(area.size), edges: edges)
        return (Geometry(of: source, crop: area), rest)
    }

    private func bounds(of points: [Point], margin: Int) -> PixelRectangle {
        func span(_ values: [Double], _ start: Int, _ length: Int) -> (Int, Int) {
            // Compared as floating-point numbers: a point near the horizon exceeds all integers.
            let (low, high) = (Double(start), Double(start + length - 1))
            let first = (values.min() ?? low).rounded(.down) - Double(margin)
            let last = (values.max() ?? high).rounded(.down) + Double(margin)
            let from = Int(min(max(first, low), high))
            return (from, Int(min(max(last, Double(from)), high)) - from + 1)
        }
        let (x, width) = span(points.map(\.x), part.x, part.width)
        let (y, height) = span(points.map(\.y), part.y, part.height)
        return PixelRectangle(x: x, y: y, width: width, height: height)
    }

    /// The most rows of the source that are visible in a strip of the result; nil if the strips do not traverse the source from top
    /// to bottom.
    public var streamingRows: Int? {
        var most = 0
        var top = Double.infinity
        let visible = visible
        var upper = Double(size.height)
        while upper > 0 {
            let lower = max(0, upper - Double(Self.strip))
            let shape = [Edge(0, 1, -lower), Edge(0, -1, upper)].compactMap(\.self)
                .reduce(visible) { $1.cut($0) }
            upper = lower
            guard !shape.isEmpty else { continue }
            let rows = shape.map { toSource($0).y }
            let (low, high) = (rows.min() ?? 0, rows.max() ?? 0)
            guard high <= top + 1 else { return nil }
            top = min(top, high)
            most = max(most, Int(min(high - low, Double(source.height))) + 1)
        }
        return most
    }
}
