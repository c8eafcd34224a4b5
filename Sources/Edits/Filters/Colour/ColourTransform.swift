import Edits

/// An affine map of colours, a matrix and an offset: three rows of four numbers.
public struct ColourTransform: Sendable, Equatable {
    /// Row by row: the coefficients of red, green and blue, and the offset.
    let rows: [Double]

    /// Makes a transform of twelve numbers, row by row.
    init(rows: [Double]) {
        precondition(rows.count == 12, "a transform has twelve numbers")
        self.rows = rows
    }

    /// Creates a transform from a matrix of nine numbers, row by row, and an offset for all channels.
    init(matrix: [Double], offset: Double = 0) {
        precondition(matrix.count == 9, "a 3×3 matrix has nine numbers")
        rows = (0..<3).flatMap { matrix[3 * $0..<3 * $0 + 3] + [offset] }
    }

    /// Creates a transform that multiplies each channel by a number and adds another.
    init(scale: Double, offset: Double = 0) {
        self.init(matrix: [scale, 0, 0, 0, scale, 0, 0, 0, scale], offset: offset)
    }

    /// Returns this transform followed by `next`.
    func then(_ next: ColourTransform) -> ColourTransform {
        ColourTransform(
            rows: (0..<12).map { index in
                let (row, column) = (index / 4 * 4, index % 4)
                let own = column == 3 ? next.rows[row + 3] : 0
                return (0..<3).reduce(own) { $0 + next.rows[row + $1] * rows[4 * $1 + column] }
            })
    }

    /// Whether it changes no 16-bit code.
    var isNearlyIdentity: Bool {
        rows.enumerated().allSatisfy { index, number in
            abs(number - (index % 5 == 0 ? 1 : 0)) < 1e-7
        }
    }

    /// Transforms each colour of a chunk.
    @inline(__always)
    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        func number(_ index: Int) -> Float { Float(rows[index]) }
        let (a, b, c, d) = (number(0), number(1), number(2), number(3))
        let (e, f, g, h) = (number(4), number(5), number(6), number(7))
        let (j, k, l, m) = (number(8), number(9), number(10), number(11))
        for i in 0..<pixels.count {
            let (x, y, z) = (red[i], green[i], blue[i])
            red[i] = a * x + b * y + c * z + d
            green[i] = e * x + f * y + g * z + h
            blue[i] = j * x + k * y + l * z + m
        }
    }
}
