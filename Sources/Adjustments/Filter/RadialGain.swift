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
}

extension RadialGain {
    public var usesPosition: Bool { true }

    public func apply(to pixels: PixelChunk) {
        let dy = pixels.y - centre.y
        let left = pixels.x - centre.x
        for i in 0..<pixels.count {
            let dx = left + Double(i)
            let gain = Float(gain(at: (dx * dx + dy * dy).squareRoot()))
            pixels.red[i] *= gain
            pixels.green[i] *= gain
            pixels.blue[i] *= gain
        }
    }
}
