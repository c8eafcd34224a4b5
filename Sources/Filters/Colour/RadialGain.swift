public import Adjustments

/// A filter that multiplies each colour by a number that depends on the distance from one place alone: a
/// vignette.
///
/// At the end of a chain it need not be computed pixel by pixel.
public protocol RadialGain: PixelFilter {
    /// The place: from the left and from the bottom, in pixels.
    var centre: (x: Double, y: Double) { get }
    /// The distance, in pixels, from which on the number stays as it is.
    var reach: Double { get }
    /// The number at a distance in pixels; 0 or more.
    func gain(at distance: Double) -> Double
    /// ``gain(at:)`` as a table, made once with the filter.
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
