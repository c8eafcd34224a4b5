import Adjustments
import Glibc

/// Weights that are the same on both sides, for a filter along rows or columns.
struct SymmetricKernel: Sendable {
    /// The weight of the middle, then of its neighbours to either side; together, both sides counted, 1.
    let weights: [Float]
    /// How far it looks to each side.
    var reach: Int { weights.count - 1 }

    /// Weights that are scaled to a sum of 1.
    init(_ weights: [Double]) {
        let sum = weights[0] + 2 * weights.dropFirst().reduce(0, +)
        self.weights = weights.map { Float($0 / sum) }
    }

    /// Where a Gaussian is cut, in σ. Beyond lie 0.018 % of its weight, which beside a white edge is
    /// 0.05 steps of an 8-bit code in the darkest shadows; cut at 3 σ it would be 2.4.
    static let cutoff = 3.75

    /// A Gaussian's values at whole pixels. Good from σ = 0.5; below, its sum over a pixel would differ.
    static func gaussian(sigma: Double) -> SymmetricKernel {
        let reach = Int((cutoff * sigma).rounded(.up))
        return SymmetricKernel((0...reach).map { exp(-0.5 * pow(Double($0) / sigma, 2)) })
    }
}

extension SymmetricKernel {
    /// Columns that are filtered together: their sums stay in the first-level cache.
    private static let block = 1024

    /// Filters columns: one row from the rows around it.
    ///
    /// - Parameter margin: columns beside the picture that are made too.
    func column(_ window: RowWindow, at y: Int, into out: PlanarRow, margin: Int) {
        _ = window.row(y + reach)
        let end = window.format.width + margin
        for plane in 0..<window.format.planes {
            for first in stride(from: -margin, to: end, by: Self.block) {
                let count = min(Self.block, end - first)
                func row(_ side: Int) -> UnsafeMutablePointer<Float> {
                    window.row(y + side)[plane] + first
                }
                let target = out[plane] + first
                Self.scale(row(0), by: weights[0], into: target, count)
                addSides(to: target, count, row)
            }
        }
    }

    /// Filters a row, which has ``reach`` columns more on both sides.
    func row(_ row: PlanarRow, into out: PlanarRow, width: Int, planes: Int) {
        for plane in 0..<planes {
            let (source, target) = (row[plane], out[plane])
            Self.scale(source, by: weights[0], into: target, width)
            addSides(to: target, width) { source + $0 }
        }
    }

    /// Two pairs at a time, so that the sums are read and written half as often.
    @inline(__always)
    private func addSides(
        to target: UnsafeMutablePointer<Float>, _ count: Int,
        _ source: (_ side: Int) -> UnsafeMutablePointer<Float>
    ) {
        var side = 1
        while side < reach {
            Self.addPairs(
                source(-side), source(side), weights[side],
                source(-side - 1), source(side + 1), weights[side + 1], to: target, count)
            side += 2
        }
        if side == reach {
            Self.addPair(source(-side), source(side), weights[side], to: target, count)
        }
    }

    private static func scale(
        _ source: UnsafePointer<Float>, by weight: Float,
        into target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        for i in 0..<count { target[i] = weight * source[i] }
    }

    private static func addPair(
        _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ weight: Float,
        to target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        for i in 0..<count { target[i] += weight * (a[i] + b[i]) }
    }

    private static func addPairs(
        _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ weight: Float,
        _ a2: UnsafePointer<Float>, _ b2: UnsafePointer<Float>, _ weight2: Float,
        to target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        for i in 0..<count {
            target[i] += weight * (a[i] + b[i]) + weight2 * (a2[i] + b2[i])
        }
    }
}
