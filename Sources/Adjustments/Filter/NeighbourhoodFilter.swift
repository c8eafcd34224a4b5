/// A filter whose result at a pixel depends on pixels around it.
///
/// It makes rows from rows, from top to bottom, and keeps only those that it still needs: no
/// neighbourhood asks for a whole picture.
public protocol NeighbourhoodFilter: Sendable {
    /// How far it looks to each side.
    var reach: Extent { get }
    /// By how much its result is larger than the picture on each side; nothing unless a filter says
    /// otherwise.
    var growth: Extent { get }
    /// What it takes for the pixels outside of the picture.
    var edge: EdgeMode { get }
    /// Its result.
    ///
    /// - Parameter source: linear light multiplied by alpha: three planes, or four with alpha, and always
    ///   four when ``edge`` is ``EdgeMode/transparent``.
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
    /// Nothing.
    public static let none = Extent(columns: 0, rows: 0)

    /// Makes an extent.
    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// What lies outside of a picture.
public enum EdgeMode: String, Sendable {
    /// The outermost pixels go on.
    case clamp
    /// Nothing: black with alpha 0.
    case transparent
}
