import Edits

/// The rectangle of whole pixels around a mapped picture.
enum Canvas {
    /// Longest side of a picture, in pixels: libvips' `VIPS_MAX_COORD`.
    static let sideMax = 10_000_000.0
    /// Smallest area of a result, in pixels: a smaller result would be invisible.
    private static let areaMin = 1e-3
    /// A corner less than this beyond a whole pixel, in pixels, does not enlarge the rectangle.
    private static let slack = 1e-6

    /// Returns the geometry of a whole picture moved by `map`.
    ///
    /// - Parameter name: the origin of the map, for errors.
    /// - Throws: `invalidValue` for a map that makes the picture vanish; `tooManyPixels`.
    static func around(_ size: PixelSize, moved map: Homography, by name: String)
        throws(Failure) -> Geometry
    {
        let corners = PixelRectangle(size).corners.map { map($0) }
        guard let back = map.inverse, area(of: corners) >= areaMin else {
            throw Failure(
                .invalidValue,
                "\(name) makes a line or a point of the picture, which has \(size) pixels.")
        }
        let (left, width) = try span(corners.map(\.x), of: name)
        let (bottom, height) = try span(corners.map(\.y), of: name)
        return Geometry(
            of: size, size: PixelSize(width: width, height: height),
            toSource: back * .shift(left, bottom))
    }

    /// Computes the area by Gauss' formula; 0 if a corner is not finite.
    private static func area(of corners: [Point]) -> Double {
        var area = 0.0
        for (index, here) in corners.enumerated() {
            let next = corners[(index + 1) % corners.count]
            area += (here.x * next.y - next.x * here.y) / 2
        }
        return area.isFinite ? abs(area) : 0
    }

    private static func span(_ values: [Double], of name: String) throws(Failure)
        -> (start: Double, length: Int)
    {
        let start = ((values.min() ?? 0) + slack).rounded(.down)
        let end = ((values.max() ?? 0) - slack).rounded(.up)
        guard end - start <= sideMax else {
            throw Failure(
                .tooManyPixels,
                "\(name) makes a picture with a side of \(end - start) pixels; at most "
                    + "\(Int(sideMax)) are possible.")
        }
        return (start, max(1, Int(end - start)))
    }
}
