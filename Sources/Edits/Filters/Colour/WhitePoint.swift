import Edits

/// The white of a colour temperature, and the adaptation of colours to another white.
enum WhitePoint {
    /// The domain of ``xyz(kelvin:tint:)``: the daylight locus ends at 25 000 K (CIE 15:2004 §3.1), Krystek's formula begins at
    /// 1000 K.
    static let kelvins = 1000.0...25_000.0

    /// Returns the XYZ of a white with Y = 1.
    ///
    /// - Parameters:
    ///   - kelvin: its colour temperature.
    ///   - tint: its distance from the locus, positive towards green, in steps of 1/3000 of the CIE 1960 diagram (the scale of
    ///     Adobe's DNG SDK, which raw converters show).
    static func xyz(kelvin: Double, tint: Double) -> [Double] {
        let (u, v) = locus(kelvin)
        // Mireds are even steps along the locus.
        let next = locus(1e6 / (1e6 / kelvin - 0.1))
        let (du, dv) = (next.u - u, next.v - v)
        let length = (du * du + dv * dv).squareRoot()
        // Towards blue, magenta lies to the left of the locus and green to its right.
        let (greenU, greenV) = dv < 0 || du < 0 ? (dv / length, -du / length) : (0, 1)
        let (shiftedU, shiftedV) = (u + greenU * tint / 3000, v + greenV * tint / 3000)
        let scale = 2 * shiftedU - 8 * shiftedV + 4
        let (x, y) = (3 * shiftedU / scale, 2 * shiftedV / scale)
        return [x / y, 1, (1 - x - y) / y]
    }

    /// Returns a point in the CIE 1960 diagram: on the daylight locus from 4000 K on, on the Planckian locus up to 3000 K, and
    /// interpolated in between.
    private static func locus(_ kelvin: Double) -> (u: Double, v: Double) {
        let share = min(max((kelvin - 3000) / 1000, 0), 1)
        let (day, planck) = (daylight(max(kelvin, 3000)), planckian(kelvin))
        return (
            planck.u + (day.u - planck.u) * share, planck.v + (day.v - planck.v) * share
        )
    }

    /// CIE 15:2004 §3.1.
    private static func daylight(_ kelvin: Double) -> (u: Double, v: Double) {
        let t = 1000 / kelvin
        let x =
            kelvin <= 7000
            ? 0.244063 + t * (0.09911 + t * (2.9678 - t * 4.6070))
            : 0.237040 + t * (0.24748 + t * (1.9018 - t * 2.0064))
        let y = -0.275 + x * (2.870 - x * 3)
        let scale = 12 * y - 2 * x + 3
        return (4 * x / scale, 6 * y / scale)
    }

    /// M. Krystek, "An algorithm to calculate correlated colour temperature", 1985: within 8·10⁻⁵ in u
    /// and v from 1000 K to 15 000 K.
    private static func planckian(_ kelvin: Double) -> (u: Double, v: Double) {
        let t = kelvin
        return (
            (0.860117757 + t * (1.54118254e-4 + t * 1.28641212e-7))
                / (1 + t * (8.42420235e-4 + t * 7.08145163e-7)),
            (0.317398726 + t * (4.22806245e-5 + t * 4.20481691e-8))
                / (1 + t * (-2.89741816e-5 + t * 1.61456053e-7))
        )
    }

    /// Bradford's matrix: XYZ to the responses that a change of white scales (ICC.1 §E).
    private static let bradford = ColourMatrix(rows: [
        0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296,
    ])
    /// Linear sRGB to XYZ of its own white, D65 (IEC 61966-2-1).
    private static let sRGBToXYZ = ColourMatrix(rows: [
        0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.0721750, 0.0193339, 0.1191920,
        0.9503041,
    ])

    /// Returns the matrix on linear sRGB that adapts colours from one white to another; nil if a white is not a physical light, for
    /// which the eye has no response.
    static func adaptation(from: [Double], to: [Double]) -> ColourMatrix? {
        guard let back = bradford.inverse, let toSRGB = sRGBToXYZ.inverse else { return nil }
        func responses(_ xyz: [Double]) -> [Double] {
            (0..<3).map { row in
                zip(bradford.rows[3 * row..<3 * row + 3], xyz).reduce(0) { $0 + $1.0 * $1.1 }
            }
        }
        let (seen, wanted) = (responses(from), responses(to))
        guard (seen + wanted).allSatisfy({ $0 > 1e-3 }) else { return nil }
        let gains = zip(wanted, seen).map { $0 / $1 }
        let scale = ColourMatrix(rows: [gains[0], 0, 0, 0, gains[1], 0, 0, 0, gains[2]])
        return toSRGB * (back * (scale * (bradford * sRGBToXYZ)))
    }
}
