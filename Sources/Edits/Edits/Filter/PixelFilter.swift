/// A filter whose result at a pixel depends only on that pixel, and possibly on its position.
///
/// Consecutive ones are fused: each pixel of the photo is read once and written once.
public protocol PixelFilter: Sendable {
    /// Changes `pixels` in place: linear light, sRGB primaries, not multiplied by alpha, not clamped (Core Image's working space,
    /// except that its pixels are premultiplied there).
    ///
    /// Use plain loops over the planes: the compiler vectorises them. SIMD4 with element access was five times slower.
    func apply(to pixels: PixelChunk)

    /// Whether the result depends on the pixel's position. The default is false: each colour of a photo is then computed only once.
    var usesPosition: Bool { get }

    /// Whether a pixel's alpha may change, in which case a photo without alpha is given alpha. The default is false.
    var changesAlpha: Bool { get }
}

extension PixelFilter {
    public var usesPosition: Bool { false }
    public var changesAlpha: Bool { false }
}

/// Some pixels of one row in planes, small enough for the first-level cache.
///
/// The memory belongs to the caller and is invalid after the call.
public struct PixelChunk {
    /// The most pixels of a chunk: four planes fill 4 KB of a 32 KB cache.
    public static let capacity = 256

    /// Pixels in this chunk, at least 1.
    public let count: Int
    /// The planes.
    public let red, green, blue: UnsafeMutablePointer<Float>
    /// Alpha, 0 to 1; ones if the photo has none.
    public let alpha: UnsafeMutablePointer<Float>
    /// The centre of the first pixel, in pixels from the left. The centres of the next pixels are 1 apart.
    public let x: Double
    /// The centres of the pixels, in pixels from the bottom.
    public let y: Double

    /// Creates a chunk over memory of the caller.
    public init(
        count: Int, red: UnsafeMutablePointer<Float>, green: UnsafeMutablePointer<Float>,
        blue: UnsafeMutablePointer<Float>, alpha: UnsafeMutablePointer<Float>, x: Double = 0.5,
        y: Double = 0.5
    ) {
        self.count = count
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
        self.x = x
        self.y = y
    }
}

/// A filter whose result at a pixel depends on pixels around it.
///
/// It makes rows from rows, from top to bottom, and keeps only those that it still needs. No such filter requires a whole picture.
public protocol NeighbourhoodFilter: Sendable {
    /// The distance to each side at which it reads pixels.
    var reach: Extent { get }
    /// The growth of its result beyond the picture on each side; none by default.
    var growth: Extent { get }
    /// The pixels that it assumes outside of the picture.
    var edge: EdgeMode { get }
    /// Returns the filter's result.
    ///
    /// - Parameter source: linear light multiplied by alpha: three planes, or four with alpha, and always four if ``edge`` is
    ///   ``EdgeMode/transparent``.
    func rows(from source: any RowSource) -> any RowSource
}

extension NeighbourhoodFilter {
    public var growth: Extent { .none }
    public var edge: EdgeMode { .clamp }
}

/// Columns to the left and right, and rows above and below.
public struct Extent: Sendable, Equatable {
    /// Columns on each side.
    public let columns: Int
    /// Rows on each side.
    public let rows: Int
    public static let none = Extent(columns: 0, rows: 0)

    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// The assumption about pixels outside of a picture.
public enum EdgeMode: String, Sendable {
    /// The outermost pixels are repeated.
    case clamp
    /// Transparent: black with alpha 0.
    case transparent
}

/// A picture that is made row by row, from top to bottom, once.
///
/// One thread uses it at a time.
public protocol RowSource: AnyObject {
    var format: RowFormat { get }
    /// Makes the next row. It may write up to ``RowFormat/block`` samples beyond the width.
    func next(into row: PlanarRow)
}

/// The format of a picture's rows.
public struct RowFormat: Sendable, Equatable {
    /// Columns.
    public let width: Int
    public let height: Int
    /// Planes of a row: 1 for luminance, 3 for colour, 4 with alpha.
    public let planes: Int

    /// The additional samples for which a row has room beyond its width, so that loops need no remainder.
    public static let block = 8

    public init(width: Int, height: Int, planes: Int) {
        self.width = width
        self.height = height
        self.planes = planes
    }

    /// Returns the format enlarged on each side.
    public func grown(by growth: Extent) -> RowFormat {
        RowFormat(
            width: width + 2 * growth.columns, height: height + 2 * growth.rows, planes: planes)
    }
}

extension PixelSize {
    /// Returns the size enlarged on each side.
    package func grown(by growth: Extent) -> PixelSize {
        PixelSize(width: width + 2 * growth.columns, height: height + 2 * growth.rows)
    }
}

/// One row of samples, plane after plane. The memory belongs to the caller.
public struct PlanarRow {
    /// The first sample of the first plane.
    public let start: UnsafeMutablePointer<Float>
    /// Samples from one plane to the next.
    public let stride: Int

    public init(start: UnsafeMutablePointer<Float>, stride: Int) {
        self.start = start
        self.stride = stride
    }

    /// The first sample of a plane.
    public subscript(plane: Int) -> UnsafeMutablePointer<Float> { start + plane * stride }
}

public struct PixelArea: Sendable, Equatable {
    /// Column of the left edge.
    public var left: Int
    /// Row of the top edge.
    public var top: Int
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    public init(left: Int, top: Int, width: Int, height: Int) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }
}

/// The pixels of one rectangle, valid for one call.
///
/// Rows are contiguous, samples interleaved. The memory belongs to the creator and is invalid when the call returns. Input must
/// only be read.
public struct RegionPixels {
    /// The rectangle in its image.
    public let area: PixelArea
    /// The first pixel of the first row.
    public let start: UnsafeMutableRawPointer
    /// Bytes from one row to the next.
    public let stride: Int

    /// Creates a view of memory of the caller.
    public init(area: PixelArea, start: UnsafeMutableRawPointer, stride: Int) {
        self.area = area
        self.start = start
        self.stride = stride
    }

    /// Returns the first pixel of a row, counted from the top of the rectangle.
    public func row(_ index: Int) -> UnsafeMutableRawPointer { start + index * stride }
}
