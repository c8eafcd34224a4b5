import Adjustments

/// The rectangle of whole pixels around what a map makes of a picture.
enum Canvas {
    /// Longest side of a picture, in pixels: libvips' `VIPS_MAX_COORD`.
    static let sideMax = 10_000_000.0
    /// A corner that lies this little beyond a whole pixel, in pixels, asks for no further one.
    private static let slack = 1e-6

    /// All of a picture, moved by `map`.
    ///
    /// - Parameter words: what the map comes from, for errors.
    /// - Throws: `invalidValue` for a map that makes a line of the picture; `tooManyPixels`.
    static func around(_ size: PixelSize, moved map: Homography, by words: String)
        throws(Failure) -> Geometry
    {
        let corners = PixelRectangle(size).corners.map { map($0) }
        guard let back = map.inverse, corners.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else {
            throw Failure(
                .invalidValue,
                "\(words) has no inverse: it makes a line or a point of the picture.")
        }
        let (left, width) = try span(corners.map(\.x), of: words)
        let (bottom, height) = try span(corners.map(\.y), of: words)
        return Geometry(
            of: size, size: PixelSize(width: width, height: height),
            toSource: back * .shift(left, bottom))
    }

    private static func span(_ values: [Double], of words: String) throws(Failure)
        -> (start: Double, length: Int)
    {
        let start = ((values.min() ?? 0) + slack).rounded(.down)
        let end = ((values.max() ?? 0) - slack).rounded(.up)
        guard end - start <= sideMax else {
            throw Failure(
                .tooManyPixels,
                "\(words) makes a picture with a side of \(end - start) pixels; at most "
                    + "\(Int(sideMax)) are possible.")
        }
        return (start, max(1, Int(end - start)))
    }
}
