import Vips

/// A rectangle of interleaved Float samples. The memory belongs to the caller.
struct SampleRectangle {
    /// Where it lies in its picture.
    let left, top: Int
    /// Its size in pixels.
    let width, height: Int
    /// The first sample of the first row.
    let start: UnsafeMutablePointer<Float>
    /// Samples from one row to the next.
    let stride: Int

    /// Pixels of libvips whose samples are Floats.
    init(_ pixels: RegionPixels) {
        left = pixels.area.left
        top = pixels.area.top
        width = pixels.area.width
        height = pixels.area.height
        start = pixels.start.assumingMemoryBound(to: Float.self)
        stride = pixels.stride / MemoryLayout<Float>.stride
    }

    /// The first sample of a row, counted from the top of the rectangle.
    func row(_ index: Int) -> UnsafeMutablePointer<Float> { start + index * stride }
}
