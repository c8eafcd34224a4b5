/// A rectangle of pixels.
public struct PixelArea: Sendable, Equatable {
    /// Column of the left edge.
    public var left: Int
    /// Row of the top edge.
    public var top: Int
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int

    /// Makes a rectangle.
    public init(left: Int, top: Int, width: Int, height: Int) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }
}
