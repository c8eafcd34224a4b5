/// A map of points that preserves straight lines.
///
///     (x, y) → ((m₀x + m₁y + m₂) / w, (m₃x + m₄y + m₅) / w)      w = m₆x + m₇y + m₈
///
/// Turns, scales, shears and shifts have w = 1; a perspective view does not.
public struct Homography: Sendable, Equatable {
    /// m₀ to m₈.
    public let values: [Double]

    private init(_ values: [Double]) { self.values = values }

    /// Creates an affine map, which preserves parallels: (ax + by + c, dx + ey + f).
    public init(affine a: Double, _ b: Double, _ c: Double, _ d: Double, _ e: Double, _ f: Double) {
        values = [a, b, c, d, e, f, 0, 0, 1]
    }

    /// The map that moves no point.
    public static let identity = Homography(affine: 1, 0, 0, 0, 1, 0)

    /// Returns the map that moves every point by the same distance.
    public static func shift(_ x: Double, _ y: Double) -> Homography {
        Homography(affine: 1, 0, x, 0, 1, y)
    }

    /// Creates the map that takes the corners of a rectangle at (0, 0) to four points.
    ///
    /// Source: Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989, §2.2.3.
    ///
    /// - Parameter corners: bottom left, bottom right, top right, top left.
    /// - Returns: nil if three of the corners lie on a line.
    public init?(width: Double, height: Double, to corners: [Point]) {
        let (p0, p1, p2, p3) = (corners[0], corners[1], corners[2], corners[3])
        let (dx1, dy1) = (p1.x - p2.x, p1.y - p2.y)
        let (dx2, dy2) = (p3.x - p2.x, p3.y - p2.y)
        let (sx, sy) = (p0.x - p1.x + p2.x - p3.x, p0.y - p1.y + p2.y - p3.y)
        let area = dx1 * dy2 - dx2 * dy1
        guard area != 0, width > 0, height > 0 else { return nil }
        let g = (sx * dy2 - dx2 * sy) / area
        let h = (dx1 * sy - sx * dy1) / area
        self.init([
            (p1.x - p0.x + g * p1.x) / width, (p3.x - p0.x + h * p3.x) / height, p0.x,
            (p1.y - p0.y + g * p1.y) / width, (p3.y - p0.y + h * p3.y) / height, p0.y,
            g / width, h / height, 1,
        ])
    }

    /// Whether the map preserves parallels: w = 1.
    public var isAffine: Bool { values[6] == 0 && values[7] == 0 && values[8] == 1 }

    /// Returns the map that applies `second`, then `first`.
    public static func * (first: Homography, second: Homography) -> Homography {
        let (a, b) = (first.values, second.values)
        return Homography(
            (0..<9).map { i in
                let (row, column) = (i / 3 * 3, i % 3)
                return a[row] * b[column] + a[row + 1] * b[3 + column] + a[row + 2] * b[6 + column]
            })
    }

    /// The inverse, or nil if different points are mapped to the same point.
    public var inverse: Homography? {
        let m = values
        let adjugate = [
            m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3],
        ]
        let determinant = m[0] * adjugate[0] + m[1] * adjugate[3] + m[2] * adjugate[6]
        // For an affine map, the last row must be exactly 0, 0, 1.
        let divisor = isAffine ? adjugate[8] : determinant
        guard divisor.isFinite, abs(divisor) > 1e-12 else { return nil }
        return Homography(adjugate.map { $0 / divisor })
    }

    public func callAsFunction(_ point: Point) -> Point {
        let m = values
        let w = m[6] * point.x + m[7] * point.y + m[8]
        return Point(
            (m[0] * point.x + m[1] * point.y + m[2]) / w,
            (m[3] * point.x + m[4] * point.y + m[5]) / w)
    }

    /// Returns the size of a unit step at a point, in units of the target.
    ///
    /// - Returns: the largest change of x, and of y, in the target for a step of length 1.
    public func stretch(at point: Point) -> (x: Double, y: Double) {
        let m = values
        let w = m[6] * point.x + m[7] * point.y + m[8]
        let target = self(point)
        func length(_ a: Double, _ b: Double, _ value: Double) -> Double {
            let (dx, dy) = ((a - value * m[6]) / w, (b - value * m[7]) / w)
            return (dx * dx + dy * dy).squareRoot()
        }
        return (length(m[0], m[1], target.x), length(m[3], m[4], target.y))
    }
}

extension Homography: Codable {
    /// Decodes nine numbers.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([Double].self)
        guard values.count == 9 else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath, debugDescription: "a map has nine numbers"))
        }
        self.init(values)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}
