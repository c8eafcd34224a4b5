import PhotoFiles

/// The conversion from codes of luma and colour difference to red, green and blue.
///
/// Sources: ITU-T H.273 §8.3 (matrix coefficients and ranges); ISO/IEC 23000-22 (MIAF) §7.3.6.4 for the defaults: matrix 6, full
/// range.
package struct YCbCrColour: Sendable, Equatable {
    /// Weights of red and blue in luma; nil if the planes are green, blue and red themselves.
    package let weights: (red: Double, blue: Double)?
    package let isFullRange: Bool
    package let bits: Int

    /// Reads the colour of decoded planes: from `colr`, otherwise from the stream, otherwise MIAF's default.
    init(_ layout: FrameLayout, declared: HEIFProperty.CodedColour?) throws(HEICError) {
        // H.273: matrix 2 is unspecified.
        try self.init(
            matrix: [declared?.matrix, layout.matrix].compactMap(\.self).first { $0 != 2 } ?? 6,
            isFullRange: declared?.isFullRange ?? layout.isFullRange ?? true, bits: layout.bits)
    }

    /// The colour of a matrix of H.273.
    package init(matrix: Int, isFullRange: Bool, bits: Int) throws(HEICError) {
        (self.isFullRange, self.bits) = (isFullRange, bits)
        switch matrix {
        case 0: weights = nil
        case 1: weights = (0.2126, 0.0722)
        case 4: weights = (0.30, 0.11)
        case 5, 6: weights = (0.299, 0.114)
        case 7: weights = (0.212, 0.087)
        case 9, 10: weights = (0.2627, 0.0593)
        default: throw .unsupported("colours by matrix \(matrix) of H.273")
        }
    }

    package static func == (a: YCbCrColour, b: YCbCrColour) -> Bool {
        a.weights?.red == b.weights?.red && a.weights?.blue == b.weights?.blue
            && a.isFullRange == b.isFullRange && a.bits == b.bits
    }

    /// The code of black, and the number of codes between it and white.
    package var luma: (black: Double, span: Double) {
        let step = Double(1 << (bits - 8))
        return isFullRange ? (0, Double((1 << bits) - 1)) : (16 * step, 219 * step)
    }

    /// The code of no difference, and the number of codes between the least and the greatest one.
    package var difference: (zero: Double, span: Double) {
        let step = Double(1 << (bits - 8))
        return (128 * step, isFullRange ? Double((1 << bits) - 1) : 224 * step)
    }

    /// The change of red, green (by blue and by red) and blue per code of difference, in units of 1.
    package var factors:
        (redByRed: Double, greenByBlue: Double, greenByRed: Double, blueByBlue: Double)
    {
        guard let weights else { return (0, 0, 0, 0) }
        let (red, blue) = (2 * (1 - weights.red), 2 * (1 - weights.blue))
        let green = 1 - weights.red - weights.blue
        return (
            red / difference.span, -weights.blue * blue / green / difference.span,
            -weights.red * red / green / difference.span, blue / difference.span
        )
    }
}
