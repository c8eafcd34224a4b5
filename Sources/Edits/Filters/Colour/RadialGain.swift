public import Edits

/// A filter that multiplies each colour by a gain that depends only on the distance from one point: a vignette.
///
/// At the end of a chain, it need not be computed for each pixel.
public protocol RadialGain: PixelFilter {
    /// The point, in pixels from the left and from the bottom.
    var centre: (x: Double, y: Double) { get }
    /// The distance, in pixels, beyond which the gain is constant.
    var reach: Double { get }
    /// Returns the gain at a distance in pixels; 0 or more.
    func gain(at distance: Double) -> Double
    /// ``gain(at:)`` as a table, built once with the filter.
    var gains: RadialTable { get }
}

extension RadialGain {
    public var usesPosition: Bool { true }

    public func apply(to pixels: PixelChunk) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: PixelChunk.capacity) { memory in
            guard let row = memory.baseAddress else { return }
            gains.fill(row, for: pixels, from: centre, else: gain)
            for plane in pixels.colours {
                for i in 0..<pixels.count { plane[i] *= row[i] }
            }
        }
    }
}
