import HEIC

/// The equations between codes of luma and colour difference, and red, green and blue of which black is 0.
///
/// Those of a JPEG are of the full range and the matrix of BT.601 (JFIF 1.02, "Conversion to and from RGB", which states factors with six
/// decimals: so do all here).
struct PlaneEquations: Sendable {
    /// The code of black, and what luma grows by from code to code.
    let black, scale: Float
    /// The code of no difference, and what red, green and blue grow by from code to code.
    let zero, redByRed, greenByBlue, greenByRed, blueByBlue: Float
    /// The shares of red, green and blue in luma.
    let red, green, blue: Float
    /// Codes for what luma and differences to luma grow by 1.
    let lumaCodes, blueCodes, redCodes: Float

    /// The shares of red, green and blue in luma, exact.
    let shares: [Double]

    /// Those of a JPEG.
    static let jpeg = PlaneEquations(
        weights: (0.299, 0.114), luma: (0, 255), difference: (128, 255), white: 255)

    /// - Parameter white: the number that white is to have in red, green and blue.
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
