import Boxes
import Codecs

/// How codes of luma and colour difference become red, green and blue.
///
/// Sources: ITU-T H.273 §8.3 (matrix coefficients and ranges); ISO/IEC 23000-22 (MIAF) §7.3.6.4 for what holds when
/// nothing is said: matrix 6, full range.
package struct YCbCrColour: Sendable, Equatable {
    /// Weights of red and blue in luma; nil when the planes are green, blue and red themselves.
    package let weights: (red: Double, blue: Double)?
    package let isFullRange: Bool
    package let bits: Int

    /// The colour of decoded planes: as `colr` says, else as the stream does, else MIAF.
    init(_ layout: FrameLayout, said: HEIFProperty.CodedColour?) throws(HEICError) {
        // H.273: matrix 2 is unspecified.
        try self.init(
            matrix: [said?.matrix, layout.matrix].compactMap(\.self).first { $0 != 2 } ?? 6,
            isFullRange: said?.isFullRange ?? layout.isFullRange ?? true, bits: layout.bits)
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

    /// The code of black, and how many codes are between it and white.
    package var luma: (black: Double, span: Double) {
        let step = Double(1 << (bits - 8))
        return isFullRange ? (0, Double((1 << bits) - 1)) : (16 * step, 219 * step)
    }

    /// The code of no difference, and how many codes are between the least and the greatest one.
    package var difference: (zero: Double, span: Double) {
        let step = Double(1 << (bits - 8))
        return (128 * step, isFullRange ? Double((1 << bits) - 1) : 224 * step)
    }

    /// By how much codes of difference change red, green (by blue and by red) and blue, of 1.
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
