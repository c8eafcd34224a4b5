import Codecs

/// The equations between codes of luma and colour difference, and red, green and blue with 0 for black.
///
/// A JPEG uses the full range and the matrix of BT.601 (JFIF 1.02, "Conversion to and from RGB"). JFIF states factors with six
/// decimals, and so do all equations here.
struct PlaneEquations: Sendable {
    /// The code of black, and luma per code.
    let black, scale: Float
    /// The code of no difference, and red, green and blue per code.
    let zero, redByRed, greenByBlue, greenByRed, blueByBlue: Float
    /// The weights of red, green and blue in luma.
    let red, green, blue: Float
    /// Codes per unit of luma and of the differences to luma.
    let lumaCodes, blueCodes, redCodes: Float

    /// The exact weights of red, green and blue in luma.
    let shares: [Double]

    /// The equations of a JPEG.
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
