import Edits

/// The way of a photo's content into its edited picture, for positions that metadata state as fractions from the top left.
struct ContentMap {
    /// Columns and rows of the stored photo.
    let source: PixelSize
    let size: PixelSize
    private let geometry: Geometry
    private let toResult: Homography

    /// Creates the map; nil if positions are unknown.
    init?(_ positions: PictureFacts.Positions) {
        guard case .moved(let geometry) = positions, let toResult = geometry.toSource.inverse else {
            return nil
        }
        (source, size) = (geometry.source, geometry.size)
        (self.geometry, self.toResult) = (geometry, toResult)
    }

    /// A rectangle in fractions of a picture, by its middle.
    struct Area: Equatable {
        var x, y: Double
        var width = 0.0
        var height = 0.0
    }

    private func point(_ x: Double, _ y: Double) -> Point {
        let moved = toResult(
            Point(x * Double(source.width), (1 - y) * Double(source.height)))
        return Point(moved.x / Double(size.width), 1 - moved.y / Double(size.height))
    }

    /// Returns the position of a point, which may be outside of the picture.
    func moved(_ x: Double, _ y: Double) -> Point? {
        let moved = point(x, y)
        return moved.x.isFinite && moved.y.isFinite ? moved : nil
    }

    /// Returns the bounds of the visible part of a rectangle; nil if its middle is cut away.
    func moved(_ area: Area) -> Area? {
        guard let middle = moved(area.x, area.y), (0...1).contains(middle.x),
            (0...1).contains(middle.y)
        else { return nil }
        guard area.width > 0 || area.height > 0 else { return Area(x: middle.x, y: middle.y) }
        let (across, down) = (area.width / 2, area.height / 2)
        let corners = [(-1.0, -1.0), (1, -1), (1, 1), (-1, 1)].map { side in
            point(area.x + side.0 * across, area.y + side.1 * down)
        }
        guard let x = Self.span(corners.map(\.x)), let y = Self.span(corners.map(\.y)) else {
            return nil
        }
        return Area(
            x: (x.lowerBound + x.upperBound) / 2, y: (y.lowerBound + y.upperBound) / 2,
            width: x.upperBound - x.lowerBound, height: y.upperBound - y.lowerBound)
    }

    private static func span(_ values: [Double]) -> ClosedRange<Double>? {
        guard let low = values.min(), let high = values.max(), low.isFinite, high.isFinite,
            low <= 1, high >= 0
        else { return nil }
        return max(0, low)...min(1, high)
    }

    /// The number of pixels of the result for one pixel of the photo at a point, in the mean of both directions.
    func scale(at x: Double, _ y: Double) -> Double? {
        let (dx, dy) = (0.5 / Double(source.width), 0.5 / Double(source.height))
        let corners = [(-dx, -dy), (dx, -dy), (dx, dy), (-dx, dy)].map { point(x + $0.0, y + $0.1) }
        let area = (0..<4).reduce(0.0) { sum, index in
            let (a, b) = (corners[index], corners[(index + 1) % 4])
            return sum + (a.x * b.y - b.x * a.y) * Double(size.pixels)
        }
        let scale = (abs(area) / 2).squareRoot()
        return scale.isFinite ? scale : nil
    }

    /// The crop and the scale, if there is nothing else: pixels of the photo left of the result and above it, and pixels of the photo
    /// for one of the result, across and down.
    var cropAndScale: (left: Double, top: Double, across: Double, down: Double)? {
        let m = geometry.toSource.values
        guard geometry.toSource.isAffine, m[1] == 0, m[3] == 0, m[0] > 0, m[4] > 0 else {
            return nil
        }
        let bottom = m[5]
        return (
            m[2], Double(source.height) - bottom - m[4] * Double(size.height), m[0], m[4]
        )
    }
}
