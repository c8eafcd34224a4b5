import Edits
import Glibc

/// A 3×3 matrix, row by row.
public struct ColourMatrix: Sendable, Equatable {
    public let rows: [Double]

    public init(rows: [Double]) {
        precondition(rows.count == 9, "a 3×3 matrix has nine numbers")
        self.rows = rows
    }

    /// Linear sRGB to XYZ of illuminant D50, the connection space of ICC profiles: the sRGB
    /// primaries adapted by Bradford (ICC.1 §E; the numbers of the ICC's own sRGB v4 profile).
    public static let sRGBToXYZ = ColourMatrix(rows: [
        0.43606567, 0.38514709, 0.14306641,
        0.22248840, 0.71687317, 0.06060791,
        0.01391602, 0.09707642, 0.71409607,
    ])

    public static func * (a: ColourMatrix, b: ColourMatrix) -> ColourMatrix {
        var rows: [Double] = []
        for index in 0..<9 {
            let (row, column) = (index / 3 * 3, index % 3)
            let first = a.rows[row] * b.rows[column]
            let second = a.rows[row + 1] * b.rows[column + 3]
            let third = a.rows[row + 2] * b.rows[column + 6]
            rows.append(first + second + third)
        }
        return ColourMatrix(rows: rows)
    }

    /// The inverse matrix, or nil if there is none.
    public var inverse: ColourMatrix? {
        let m = rows
        func minor(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Double { m[a] * m[d] - m[b] * m[c] }
        let cofactors = [
            minor(4, 5, 7, 8), -minor(1, 2, 7, 8), minor(1, 2, 4, 5),
            -minor(3, 5, 6, 8), minor(0, 2, 6, 8), -minor(0, 2, 3, 5),
            minor(3, 4, 6, 7), -minor(0, 1, 6, 7), minor(0, 1, 3, 4),
        ]
        let determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6]
        guard abs(determinant) > 1e-9 else { return nil }
        return ColourMatrix(rows: cofactors.map { $0 / determinant })
    }

    /// Whether it changes no 8-bit value: profiles for sRGB differ in the fourth digit.
    public var isNearlyIdentity: Bool {
        let one: [Double] = [1, 0, 0, 0, 1, 0, 0, 0, 1]
        return zip(rows, one).allSatisfy { abs($0 - $1) < 0.002 }
    }
}

/// An affine map of colours, a matrix and an offset: three rows of four numbers.
public struct ColourTransform: Sendable, Equatable {
    /// Row by row: the coefficients of red, green and blue, and the offset.
    let rows: [Double]

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

/// A filter made of ``ColourTransform``s of sRGB-encoded values, each clamped to 0 to 1: CSS functions.
struct EncodedMatrixPixels: FusiblePixels {
    let transforms: [ColourTransform]
    var form: PixelForm? { .encodedMatrices(transforms) }

    func apply(to pixels: PixelChunk) {
        pixels.encode()
        for transform in transforms {
            transform.apply(to: pixels)
            pixels.clamp()
        }
        pixels.decode()
    }
}

/// A filter that is a ``ColourTransform`` of linear light.
struct MatrixPixels: FusiblePixels {
    let transform: ColourTransform
    var form: PixelForm? { .matrix(transform) }

    func apply(to pixels: PixelChunk) { transform.apply(to: pixels) }
}

/// The matrix of the W3C's `feColorMatrix type="hueRotate"` (Filter Effects 1, §9.6).
///
/// It rotates colours about the grey axis and keeps their luminance by the weights 0.213, 0.715, 0.072. CSS applies it to encoded
/// values, Core Image to linear light.
enum HueRotation {
    /// Returns the matrix for an angle in radians.
    static func matrix(angle: Double) -> ColourTransform {
        let (c, s) = (cos(angle), sin(angle))
        return ColourTransform(matrix: [
            0.213 + 0.787 * c - 0.213 * s, 0.715 - 0.715 * c - 0.715 * s,
            0.072 - 0.072 * c + 0.928 * s,
            0.213 - 0.213 * c + 0.143 * s, 0.715 + 0.285 * c + 0.140 * s,
            0.072 - 0.072 * c - 0.283 * s,
            0.213 - 0.213 * c - 0.787 * s, 0.715 - 0.715 * c + 0.715 * s,
            0.072 + 0.928 * c + 0.072 * s,
        ])
    }
}

/// The luminance weights of every Core Image filter that could be measured, on linear RGB.
///
/// Found by fitting Core Image's own pixels; with 0.2126, 0.7152, 0.0722 the result differs by less than 0.1 of 255.
public enum Luminance {
    static let weights = [0.2125, 0.7154, 0.0721]

    /// Returns the luminance of a linear colour.
    @inline(__always) @inlinable
    public static func of(_ red: Float, _ green: Float, _ blue: Float) -> Float {
        0.2125 * red + 0.7154 * green + 0.0721 * blue
    }
}
