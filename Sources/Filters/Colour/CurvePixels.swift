import Adjustments
import Glibc

/// A function from light to light, the same for red, green and blue, as one table for light and one for its negative.
///
/// A curve of encoded values takes nine look-ups of a colour, and this one three.
struct CurvePixels: PixelFilter {
    /// How far the tables may miss the function, encoded: half a 16-bit code.
    static let errorMax = 0.5 / 65_535

    private let above, below: LightCurve

    /// Nil when the function has corners that the tables would miss by more than ``errorMax``.
    init?(_ function: (Double) -> Double) {
        let most = PixelForm.lightMax
        func up(_ light: Double) -> Double { min(max(function(light), -most), most) }
        func down(_ light: Double) -> Double { up(-light) }
        let (above, below) = (LightCurve(up), LightCurve(down))
        guard above.follows(up), below.follows(down) else { return nil }
        (self.above, self.below) = (above, below)
    }

    func apply(to pixels: PixelChunk) {
        let (above, below) = (above.table.values, below.table.values)
        let scale = self.above.scale
        for plane in pixels.colours {
            for i in 0..<pixels.count {
                let light = plane[i]
                let (entry, part) = scale.position(light.magnitude)
                let values = light < 0 ? below : above
                plane[i] = values[2 * entry] + values[2 * entry + 1] * part
            }
        }
    }
}

extension LightCurve {
    /// Whether its lines miss a function by no more than ``CurvePixels/errorMax`` in the middle of any piece and beside it.
    fileprivate func follows(_ function: (Double) -> Double) -> Bool {
        (0..<scale.count).allSatisfy { entry in
            let (low, high) = (scale.lowerEnd(of: entry), scale.lowerEnd(of: entry + 1))
            let (first, gain) = (
                Double(table.values[2 * entry]), Double(table.values[2 * entry + 1])
            )
            return [0.25, 0.5, 0.75].allSatisfy { part in
                let wanted = function(low + (high - low) * part)
                let miss = abs(first + gain * part - wanted)
                // The encoding is as steep as 12.92 in the dark, and flatter than 1 only beyond what codes can hold.
                guard miss * Self.slopeMax > CurvePixels.errorMax else { return true }
                return miss * Self.slope(at: abs(wanted)) <= CurvePixels.errorMax
                    * max(1, abs(wanted))
            }
        }
    }

    private static let slopeMax = 12.92

    /// How much encoded values change with light.
    private static func slope(at light: Double) -> Double {
        light <= 0.0031308 ? slopeMax : 1.055 / 2.4 * pow(light, 1 / 2.4 - 1)
    }
}
