/// A picture that is made row by row, from top to bottom, once.
///
/// One thread uses it at a time.
public protocol RowSource: AnyObject {
    /// The format of its rows.
    var format: RowFormat { get }
    /// Makes the next row. It may write up to ``RowFormat/block`` samples beyond the width.
    func next(into row: PlanarRow)
}

/// The format of a picture's rows.
public struct RowFormat: Sendable, Equatable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Planes of a row: 1 for luminance, 3 for colour, 4 with alpha.
    public let planes: Int

    /// The additional samples for which a row has room beyond its width, so that loops need no remainder.
    public static let block = 8

    /// Makes a format.
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

/// One row of samples, plane after plane. The memory belongs to the caller.
public struct PlanarRow {
    /// The first sample of the first plane.
    public let start: UnsafeMutablePointer<Float>
    /// Samples from one plane to the next.
    public let stride: Int

    /// Makes a row.
    public init(start: UnsafeMutablePointer<Float>, stride: Int) {
        self.start = start
        self.stride = stride
    }

    /// The first sample of a plane.
    public subscript(plane: Int) -> UnsafeMutablePointer<Float> { start + plane * stride }
}
