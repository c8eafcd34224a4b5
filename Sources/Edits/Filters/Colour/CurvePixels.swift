import Edits
import Glibc

/// A function from light to light, the same for red, green and blue, as one table for light and one for its negative.
///
/// A curve of encoded values needs nine lookups per colour, this one three.
struct CurvePixels: PixelFilter {
    /// The highest error of the tables, encoded: half a 16-bit code.
    static let errorMax = 0.5 / 65_535

    /// As ``LightCurve/table``: the pieces for light, then those for its negative.
    private let table: Table<Float>
    private static let scale = LightCurve.scale

    /// Nil if the function has corners at which the tables would exceed ``errorMax``.
    init?(_ function: (Double) -> Double) {
        let most = PixelForm.lightMax
        func up(_ light: Double) -> Double { min(max(function(light), -most), most) }
        func down(_ light: Double) -> Double { up(-light) }
        let (above, below) = (LightCurve(up), LightCurve(down))
        guard above.follows(up), below.follows(down) else { return nil }
        let half = 2 * Self.scale.count
        table = Table(count: 2 * half) { entry in
            entry < half ? above.table.values[entry] : below.table.values[entry - half]
        }
    }

    func apply(to pixels: PixelChunk) {
        let (pairs, scale, count) = (table.values, Self.scale, pixels.count)
        TablePositions.with { positions in
            for plane in pixels.colours {
                scale.fill(
                    positions, forAmounts: plane, count: count, negatives: Int32(scale.count))
                positions.lookUp(pairs, into: plane, count: count)
            }
        }
    }
}

extension LightCurve {
    /// Whether its lines approximate a function within ``CurvePixels/errorMax`` in the middle of each piece and beside it.
    fileprivate func follows(_ function: (Double) -> Double) -> Bool {
        (0..<scale.count).allSatisfy { entry in
            let (low, high) = (scale.lowerEnd(of: entry), scale.lowerEnd(of: entry + 1))
            let (first, gain) = (
                Double(table.values[2 * entry]), Double(table.values[2 * entry + 1])
            )
            return [0.25, 0.5, 0.75].allSatisfy { part in
                let wanted = function(low + (high - low) * part)
                let miss = abs(first + gain * part - wanted)
                // The encoding's slope is 12.92 in the shadows, and below 1 only for light that codes cannot express.
                guard miss * Self.slopeMax > CurvePixels.errorMax else { return true }
                return miss * Self.slope(at: abs(wanted)) <= CurvePixels.errorMax
                    * max(1, abs(wanted))
            }
        }
    }

    private static let slopeMax = 12.92

    /// Returns the derivative of encoded values with respect to light.
    private static func slope(at light: Double) -> Double {
        light <= 0.0031308 ? slopeMax : 1.055 / 2.4 * pow(light, 1 / 2.4 - 1)
    }
}
