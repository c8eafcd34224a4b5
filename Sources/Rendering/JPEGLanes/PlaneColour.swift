import Codecs
import Filters

/// The meaning of 8-bit codes in planes: equations to red, green and blue with 255 for white, and curves and matrices to light.
struct PlaneColour: Sendable {
    let equations: PlaneEquations
    let curves: PlaneCurves
    /// Linear light of the picture's primaries to linear sRGB, or nil when they are the same.
    let toWorking: ColourMatrix?
    /// The inverse of ``toWorking``.
    let fromWorking: ColourMatrix?

    init(_ colour: PhotoColour) {
        equations = .jpeg
        curves = PlaneCurves.of(colour)
        (toWorking, fromWorking) = (colour.toWorking, colour.fromWorking)
    }

    /// The codes of a movie's frames of 8 bits.
    init(_ colour: FrameColour) {
        equations = colour.equations(white: 255)
        let transfer = colour.transfer
        let curve = PlaneCurves.Curve(linear: transfer.linear, encoded: transfer.encoded)
        curves = PlaneCurves([curve, curve, curve], isExtended: colour.isExtended)
        (toWorking, fromWorking) = (colour.toWorking, colour.fromWorking)
    }
}

/// The curves of red, green and blue, for codes in planes that are not integers.
struct PlaneCurves: Sendable {
    /// The curve of one channel, with 1 for white.
    struct Curve {
        let linear, encoded: @Sendable (Double) -> Double
    }

    /// Whether values below black and above white are kept. If not, they are clipped.
    let isExtended: Bool
    /// The range of codes that ``light`` covers.
    let codesMin, codesMax: Float
    /// Linear light by code from ``codesMin`` on, for red, green and blue; one entry more than there are codes.
    let light: [Table<Float>]
    /// Code by linear light, for red, green and blue; applied with the sign of the light if extended.
    let codes: [LightCurve]
    /// The functions that ``codes`` tabulates, for light of 0 and more.
    let code: [@Sendable (Double) -> Double]

    /// sRGB's curves, built once per process: most photos need no others.
    private static let sRGB = PlaneCurves(building: .sRGB)

    static func of(_ colour: PhotoColour) -> PlaneCurves {
        colour.curves == PhotoColour.sRGB.curves ? sRGB : PlaneCurves(building: colour)
    }

    private init(building colour: PhotoColour) {
        self.init(
            colour.curves.map { curve in
                Curve(linear: { curve.linear($0) }, encoded: { curve.encoded($0) })
            }, isExtended: false)
    }

    /// The range of codes of the limited range under any matrix. The widest is blue of BT.2020, from -1.15 to 2.16 of white.
    private static let extent = (least: -320, most: 575)

    /// - Parameter curves: for red, green and blue; odd functions if extended.
    init(_ curves: [Curve], isExtended: Bool) {
        self.isExtended = isExtended
        let (least, most) = isExtended ? Self.extent : (0, 255)
        (codesMin, codesMax) = (Float(least), Float(most))
        light = curves.map { curve in
            Table(count: most - least + 2) { entry in
                let value = Double(entry + least) / 255
                return Float(curve.linear(isExtended ? value : min(value, 1)))
            }
        }
        code = curves.map { curve in
            { curve.encoded(isExtended ? $0 : min($0, 1)) * 255 }
        }
        codes = code.map { LightCurve($0) }
    }

    /// Replaces codes, between ``codesMin`` and ``codesMax``, by their light.
    func decode(_ plane: UnsafeMutablePointer<Float>, channel: Int, count: Int) {
        let light = light[channel].values
        let first = codesMin
        for i in 0..<count {
            let position = plane[i] - first
            let entry = Int(truncatingIfNeeded: Int32(position))
            let low = light[entry]
            plane[i] = low + (light[entry + 1] - low) * (position - Float(entry))
        }
    }

    func encode(_ plane: UnsafeMutablePointer<Float>, channel: Int, count: Int) {
        if isExtended {
            codes[channel].applySigned(to: plane, count: count)
        } else {
            codes[channel].apply(to: plane, count: count)
        }
    }
}

/// The equations between codes of luma and colour difference, and red, green and blue with 0 for black.
///
/// A JPEG uses the full range and the matrix of BT.601 (JFIF 1.02, "Conversion to and from RGB"). JFIF states factors with six
/// decimals, and so do all equations here.
struct PlaneEquations: Sendable {
    /// The code of black, and luma per code.
    let black, scale: Float
    /// The code of no difference, and red, green and blue per code.
    let zero, redByRed, greenByBlue, greenByRed, blueByBlue: Float
    let red, green, blue: Float
    /// Codes per unit of luma and of the differences to luma.
    let lumaCodes, blueCodes, redCodes: Float

    /// The exact weights of red, green and blue in luma.
    let shares: [Double]

    static let jpeg = PlaneEquations(
        weights: (0.299, 0.114), luma: (0, 255), difference: (128, 255), white: 255)

    /// - Parameter white: the value of white in red, green and blue.
    /// - Returns: nil for planes of green, blue and red.
    init?(_ colour: YCbCrColour, white: Double) {
        guard let weights = colour.weights else { return nil }
        self.init(
            weights: weights, luma: colour.luma, difference: colour.difference, white: white)
    }

    private init(
        weights: (red: Double, blue: Double), luma: (black: Double, span: Double),
        difference: (zero: Double, span: Double), white: Double
    ) {
        func sixDecimals(_ number: Double) -> Double { (number * 1e6).rounded() / 1e6 }
        let green = sixDecimals(1 - weights.red - weights.blue)
        let (byRed, byBlue) = (
            sixDecimals(2 * (1 - weights.red)), sixDecimals(2 * (1 - weights.blue))
        )
        let step = white / difference.span
        (black, scale) = (Float(luma.black), Float(white / luma.span))
        zero = Float(difference.zero)
        redByRed = Float(step * byRed)
        greenByBlue = Float(step * sixDecimals(weights.blue * byBlue / green))
        greenByRed = Float(step * sixDecimals(weights.red * byRed / green))
        blueByBlue = Float(step * byBlue)
        (red, self.green, blue) = (Float(weights.red), Float(green), Float(weights.blue))
        shares = [weights.red, green, weights.blue]
        lumaCodes = Float(luma.span / white)
        blueCodes = 1 / blueByBlue
        redCodes = 1 / redByRed
    }
}
