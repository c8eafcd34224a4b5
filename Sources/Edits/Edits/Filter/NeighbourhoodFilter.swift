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
    /// No extent.
    public static let none = Extent(columns: 0, rows: 0)

    /// Makes an extent.
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
