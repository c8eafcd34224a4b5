/// A map of a picture's points: crops, turns, scales and distortions, combined into one.
///
/// Filters make geometries when a render is planned, and consecutive ones are combined by ``then(_:)``, so that a picture is
/// resampled once, or not at all. All points count from the bottom left of the picture before (the source) or after.
public struct Geometry: Sendable, Equatable, Codable {
    /// The size of the source.
    public let source: PixelSize
    /// The size of the result.
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
