/// A 3×3 matrix, row by row.
public struct ColourMatrix: Sendable, Equatable {
    /// Nine numbers, row by row.
    public let rows: [Double]

    /// Makes a matrix of nine numbers, row by row.
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
