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
