/// A point in a picture, in pixels from the left and from the bottom. Centres of pixels are at halves.
public struct Point: Sendable, Equatable, Codable {
    /// From the left.
    public var x: Double
    /// From the bottom.
    public var y: Double

    /// Makes a point.
    public init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}

/// A rectangle of whole pixels, counted from the bottom left.
public struct PixelRectangle: Sendable, Equatable, Codable, CustomStringConvertible {
    /// Pixels left of it, and below it.
    public let x: Int, y: Int
    /// Its sides; at least 1.
    public let width: Int, height: Int

    /// Makes a rectangle.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates the rectangle of a whole picture.
    public init(_ size: PixelSize) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// Its size.
    public var size: PixelSize { PixelSize(width: width, height: height) }

    /// The corners, counter-clockwise from the bottom left.
    public var corners: [Point] {
        let (left, bottom) = (Double(x), Double(y))
        let (right, top) = (left + Double(width), bottom + Double(height))
        return [
            Point(left, bottom), Point(right, bottom), Point(right, top), Point(left, top),
        ]
    }

    /// Creates the rectangle between two opposite corners, in any order, with integer coordinates.
    init(_ a: Point, _ b: Point) {
        self.init(
            x: Int(min(a.x, b.x)), y: Int(min(a.y, b.y)), width: Int(abs(a.x - b.x)),
            height: Int(abs(a.y - b.y)))
    }

    public var description: String { "\(width)×\(height) at (\(x), \(y))" }
}

/// A half-plane: a·x + b·y + c is not negative. a² + b² = 1, so the value is the distance to the line.
public struct Edge: Sendable, Equatable, Codable {
    /// The line's coefficients.
    public let a: Double, b: Double, c: Double

    /// Creates an edge from any multiple of its coefficients; nil if they define no line.
    init?(_ a: Double, _ b: Double, _ c: Double) {
        let length = (a * a + b * b).squareRoot()
        guard length > 1e-12 * max(1, abs(c)) else { return nil }
        self.a = a / length
        self.b = b / length
        self.c = c / length
    }

    /// Returns the sides of a rectangle, whose half-planes contain it.
    static func around(_ rectangle: PixelRectangle) -> [Edge] {
        let (left, bottom) = (Double(rectangle.x), Double(rectangle.y))
        return [
            Edge(1, 0, -left), Edge(-1, 0, left + Double(rectangle.width)),
            Edge(0, 1, -bottom), Edge(0, -1, bottom + Double(rectangle.height)),
        ].compactMap(\.self)
    }

    /// Returns the distance of a point from the line; negative outside of the half-plane.
    public func distance(to point: Point) -> Double { a * point.x + b * point.y + c }

    /// Returns the edge before `map`: the half-plane of the points that `map` takes into this one.
    func before(_ map: Homography) -> Edge? {
        let m = map.values
        return Edge(
            a * m[0] + b * m[3] + c * m[6], a * m[1] + b * m[4] + c * m[7],
            a * m[2] + b * m[5] + c * m[8])
    }

    /// Returns the part of a convex polygon in this half-plane: Sutherland and Hodgman, 1974.
    func cut(_ polygon: [Point]) -> [Point] {
        var kept: [Point] = []
        for (index, point) in polygon.enumerated() {
            let next = polygon[(index + 1) % polygon.count]
            let (here, there) = (distance(to: point), distance(to: next))
            if here >= 0 { kept.append(point) }
            if here < 0 && there > 0 || here > 0 && there < 0 {
                let share = here / (here - there)
                kept.append(
                    Point(
                        point.x + (next.x - point.x) * share, point.y + (next.y - point.y) * share))
            }
        }
        return kept
    }
}
