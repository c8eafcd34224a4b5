/// The pixels of one rectangle, for the time of one call.
///
/// Rows are contiguous, samples interleaved. The memory belongs to who made them and is gone when the call
/// returns; input is only to be read.
public struct RegionPixels {
    /// Where the rectangle lies in its image.
    public let area: PixelArea
    /// The first pixel of the first row.
    public let start: UnsafeMutableRawPointer
    /// Bytes from one row to the next.
    public let stride: Int

    /// Makes them of memory that the caller owns.
    public init(area: PixelArea, start: UnsafeMutableRawPointer, stride: Int) {
        self.area = area
        self.start = start
        self.stride = stride
    }

    /// The first pixel of a row, counted from the top of the rectangle.
    public func row(_ index: Int) -> UnsafeMutableRawPointer { start + index * stride }
}
