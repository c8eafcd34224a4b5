/// A map of a picture's points: crops, turns, scales and distortions, combined into one.
///
/// Filters make geometries when a render is planned, and consecutive ones are combined by ``then(_:)``, so that a picture is
/// resampled once, or not at all. All points count from the bottom left of the picture before (the source) or after.
public struct Geometry: Sendable, Equatable, Codable {
    public let source: PixelSize
    public let size: PixelSize
    /// The map from points of the result to points of the source.
    public let toSource: Homography
    /// The part of the source that is read. Pixels outside of it are cropped, and its outermost pixels are repeated beyond its
    /// edge.
    public let part: PixelRectangle
    /// Lines of the result beyond which it is empty; none if the source covers it all.
    public let edges: [Edge]

    /// The displacement, in pixels, below which two geometries count as equal.
    static let tolerance = 1e-6

    /// Creates a geometry, which is made exact if it is nearly a crop or a quarter turn.
    init(
        source: PixelSize, size: PixelSize, toSource: Homography, part: PixelRectangle,
        edges: [Edge]
    ) {
        self.source = source
        self.size = size
        self.toSource = Self.exact(toSource, over: size)
        self.part = part
        let corners = PixelRectangle(size).corners
        self.edges = edges.filter { edge in
            !corners.allSatisfy { edge.distance(to: $0) > -Self.tolerance }
        }
    }

    /// Creates a picture of `size` that shows the source through `toSource`.
    public init(of source: PixelSize, size: PixelSize, toSource: Homography) {
        self.init(
            source: source, size: size, toSource: toSource, part: PixelRectangle(source),
            edges: Edge.around(PixelRectangle(source)).compactMap { $0.before(toSource) })
    }

    /// A crop to whole pixels, which lie within the source.
    public init(of source: PixelSize, crop: PixelRectangle) {
        self.init(
            source: source, size: crop.size, toSource: .shift(Double(crop.x), Double(crop.y)),
            part: crop, edges: [])
    }

    /// A turn or mirroring.
    public init(of source: PixelSize, turn: Orientation) {
        self.init(
            source: source, size: turn.size(of: source), toSource: turn.toSource(of: source),
            part: PixelRectangle(source), edges: [])
    }

    /// Returns this geometry followed by `next`, whose source is this one's result.
    public func then(_ next: Geometry) -> Geometry {
        precondition(next.source == size, "made for \(next.source), not for \(size)")
        let corners = next.part.corners.map { toSource($0) }
        return Geometry(
            source: source, size: next.size, toSource: toSource * next.toSource,
            part: isLossless ? PixelRectangle(corners[0], corners[2]) : part,
            edges: next.edges + edges.compactMap { $0.before(next.toSource) })
    }

    /// The geometry with a full last row and column if the source covers them only partly: the outermost pixels are repeated.
    public var withoutPartialEdges: Geometry {
        let most = PixelRectangle(size).corners
        return Geometry(
            source: source, size: size, toSource: toSource, part: part,
            edges: edges.filter { edge in
                (edge.a != 0 && edge.b != 0)
                    || most.contains { edge.distance(to: $0) <= -1 }
            })
    }

    /// The part of the result that shows the source: a convex polygon; empty if no part does.
    public var visible: [Point] {
        edges.reduce(PixelRectangle(size).corners) { $1.cut($0) }
    }

    /// Returns the map, or the crop or turn that differs from it by less than ``tolerance`` everywhere.
    private static func exact(_ map: Homography, over size: PixelSize) -> Homography {
        guard map.isAffine else { return map }
        let m = map.values
        let rounded = m.map { $0.rounded() }
        let side = Double(max(size.width, size.height))
        let moved = (0..<6).allSatisfy { index in
            abs(m[index] - rounded[index]) * (index % 3 == 2 ? 1 : side) < tolerance
        }
        let isTurn = Orientation.allCases.contains {
            $0.signs == [rounded[0], rounded[1], rounded[3], rounded[4]]
        }
        return moved && isTurn
            ? Homography(
                affine: rounded[0], rounded[1], rounded[2], rounded[3], rounded[4], rounded[5])
            : map
    }
}

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

/// A point in a picture, in pixels from the left and from the bottom. Centres of pixels are at halves.
public struct Point: Sendable, Equatable, Codable {
    /// From the left.
    public var x: Double
    /// From the bottom.
    public var y: Double

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

extension Geometry {
    /// The cheapest way to apply a geometry.
    public enum Kind: Sendable, Equatable {
        /// Nothing.
        case identity
        /// Whole pixels are cropped; nothing is computed.
        case crop(PixelRectangle)
        /// Whole pixels are moved; nothing is computed.
        case turn(Orientation)
        /// Rows and columns are resampled separately.
        case scale
        /// Everything else: each pixel is interpolated in two dimensions.
        case warp
    }

    /// The kind of the geometry. A crop with a turn, or a scale with a turn, has its parts in ``steps``.
    public var kind: Kind {
        guard let turn = turning else { return .warp }
        guard isLossless else { return turn == .upright ? .scale : .warp }
        if turn == .upright {
            return shown == PixelRectangle(source) ? .identity : .crop(shown)
        }
        return .turn(turn)
    }

    /// The pixels of the source that make the result, when it is lossless.
    private var shown: PixelRectangle {
        let corners = PixelRectangle(size).corners
        return PixelRectangle(toSource(corners[0]), toSource(corners[2]))
    }

    /// The same geometry as a sequence: a crop or a scale, then a turn; or a warp.
    public var steps: [Geometry] {
        guard let turning, turning != .upright else { return kind == .identity ? [] : [self] }
        let turn = Geometry(of: turning.inverse.size(of: size), turn: turning)
        let rest = then(Geometry(of: size, turn: turning.inverse))
        return (rest.kind == .identity ? [] : [rest]) + [turn]
    }

    /// Whether the result has the source's own pixels: cropped, turned, mirrored.
    public var isLossless: Bool {
        let m = toSource.values
        return turning != nil && edges.isEmpty
            && [0, 1, 3, 4].allSatisfy { [-1, 0, 1].contains(m[$0]) }
            && m[2] == m[2].rounded() && m[5] == m[5].rounded()
    }

    /// Whether width and height are swapped, at least approximately.
    public var swapsSides: Bool {
        let m = toSource.values
        return abs(m[1]) + abs(m[3]) > abs(m[0]) + abs(m[4])
    }

    /// The orientation of its axes relative to the source's, if they are parallel.
    private var turning: Orientation? {
        let m = toSource.values
        guard toSource.isAffine else { return nil }
        func sign(_ value: Double) -> Double { value > 0 ? 1 : value < 0 ? -1 : 0 }
        let signs = [sign(m[0]), sign(m[1]), sign(m[3]), sign(m[4])]
        return Orientation.allCases.first { $0.signs == signs }
    }
}

extension Geometry: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        let kinds = steps.map { step in
            switch step.kind {
            case .identity: "nothing"
            case .crop(let part): "crop to \(part)"
            case .turn(let turn): "turn \(turn.label)"
            case .scale: "scale \(step.part) to \(step.size), Lanczos"
            case .warp: "resample \(step.part) to \(step.size), bicubic"
            }
        }
        return kinds.isEmpty ? "nothing" : kinds.joined(separator: ", ")
    }
}
