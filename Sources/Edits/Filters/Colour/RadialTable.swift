public import Edits

/// A smooth function of the distance from a point, as equally spaced entries with linear interpolation.
///
/// A power or an exponential per pixel took 17 % of a usual edit. Entries only cover the range in which the function changes, so a
/// narrow ramp far from the point is as fine as one around it. A function with a larger error than ``errorMax``, such as an edge,
/// has no table and is computed for each pixel.
public struct RadialTable: Sendable {
    static let pieces = 8192
    /// The highest error in the middle of a piece: less than a quarter of a 16-bit code of light.
    static let errorMax = 0.25 / 65_535
    /// The narrowest ramp, as a fraction of the distance at its end: distances are Floats, whose last bit is then less than a tenth
    /// of a piece.
    static let narrowest = 1.0 / 16

    /// By piece: the value at its inner end; and one more for the outer end of the last.
    private let table: Table<Float>?
    private let start, scale: Float

    /// Tabulates a function.
    ///
    /// - Parameter ramp: distances in pixels between which it changes; it is constant within and beyond.
    init(over ramp: ClosedRange<Double>, _ function: (Double) -> Double) {
        let step = (ramp.upperBound - ramp.lowerBound) / Double(Self.pieces)
        func value(_ piece: Double) -> Double { function(ramp.lowerBound + piece * step) }
        let ends = (0...Self.pieces).map { value(Double($0)) }
        // Two more entries: the last pixels of the ramp, and all beyond it, read a level piece.
        let isSmooth = (0..<Self.pieces).allSatisfy { piece in
            let line = (ends[piece] + ends[piece + 1]) / 2
            return abs(value(Double(piece) + 0.5) - line) <= Self.errorMax
        }
        let isWide = step * Double(Self.pieces) > Self.narrowest * ramp.upperBound
        table =
            isSmooth && isWide
            ? Table(count: Self.pieces + 2) { Float(ends[min($0, Self.pieces)]) } : nil
        start = Float(ramp.lowerBound)
        scale = Float(1 / step)
    }

    /// Writes the value of each pixel of a chunk.
    ///
    /// A pixel's value depends only on its position, not on the start of the chunk.
    ///
    /// - Parameter function: the tabulated function.
    func fill(
        _ values: UnsafeMutablePointer<Float>, for pixels: PixelChunk,
        from centre: (x: Double, y: Double), else function: (Double) -> Double
    ) {
        let dy = pixels.y - centre.y
        guard let table else {
            for i in 0..<pixels.count {
                let dx = pixels.x + Double(i) - centre.x
                values[i] = Float(function((dx * dx + dy * dy).squareRoot()))
            }
            return
        }
        let (ends, start, scale) = (table.values, start, scale)
        let square = Float(dy * dy)
        let last = Float(Self.pieces)
        TablePositions.with { positions in
            for i in 0..<pixels.count {
                let dx = Float(pixels.x + Double(Int32(truncatingIfNeeded: i)) - centre.x)
                let position = ((dx * dx + square).squareRoot() - start) * scale
                let above = position > 0 ? position : 0
                let inside = above < last ? above : last
                let entry = positions.setEntry(i, inside)
                positions.parts[i] = inside - entry
            }
            positions.lookUp(ends: ends, into: values, count: pixels.count)
        }
    }
}

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
