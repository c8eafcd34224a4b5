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
    /// Filters columns: one row from the rows around it.
    ///
    /// - Parameter margin: columns beside the picture that are made too.
    func column(_ window: RowWindow, at y: Int, into out: PlanarRow, margin: Int) {
        _ = window.row(y + reach)
        let rows = (-reach...reach).map { window.row(y + $0) }
        for plane in 0..<window.format.planes {
            let lines = rows.map { UnsafePointer($0[plane] - margin) }
            lines.withUnsafeBufferPointer { lines in
                guard let middle = lines.baseAddress.map({ $0 + reach }) else { return }
                sum(into: out[plane] - margin, window.format.width + 2 * margin) { middle[$0] }
            }
        }
    }

    /// Filters a row, which has ``reach`` columns more on both sides.
    func row(_ row: PlanarRow, into out: PlanarRow, width: Int, planes: Int) {
        for plane in 0..<planes {
            let source = UnsafePointer(row[plane])
            sum(into: out[plane], width) { source + $0 }
        }
    }

    /// Eight sums at a time, which stay in registers; up to seven more than asked for are made.
    ///
    /// - Parameter source: the samples to one side, by how far; negative to the other.
    @inline(__always)
    private func sum(
        into target: UnsafeMutablePointer<Float>, _ count: Int,
        _ source: (_ side: Int) -> UnsafePointer<Float>
    ) {
        weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            let middle = source(0)
            var i = 0
            while i < count {
                let own = Lanes(repeating: weights[0])
                var (low, high) = (own * middle.lanes(i), own * middle.lanes(i + 4))
                var side = 1
                while side <= reach {
                    let (left, right) = (source(-side), source(side))
                    let weight = Lanes(repeating: weights[side])
                    low += weight * (left.lanes(i) + right.lanes(i))
                    high += weight * (left.lanes(i + 4) + right.lanes(i + 4))
                    side += 1
                }
                target.setLanes(i, low)
                target.setLanes(i + 4, high)
                i += 8
            }
        }
    }
}
