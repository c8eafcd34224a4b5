import Edits
import Glibc

/// Symmetric weights for a filter along rows or columns.
struct SymmetricKernel: Sendable {
    /// The weight of the centre, then of its neighbours to either side; the sum, with both sides counted, is 1.
    let weights: [Float]
    /// The reach to each side.
    var reach: Int { weights.count - 1 }

    /// Creates a kernel from weights, which are scaled to a sum of 1.
    init(_ weights: [Double]) {
        let sum = weights[0] + 2 * weights.dropFirst().reduce(0, +)
        self.weights = weights.map { Float($0 / sum) }
    }

    /// The distance, in σ, at which a Gaussian is cut. The rest has 0.018 % of its weight, which beside a white edge is 0.05 steps
    /// of an 8-bit code in the darkest shadows; cut at 3 σ it would be 2.4.
    static let cutoff = 3.75

    /// Returns a Gaussian's values at whole pixels. Valid from σ = 0.5; below, its integral over a pixel would differ.
    static func gaussian(sigma: Double) -> SymmetricKernel {
        let reach = Int((cutoff * sigma).rounded(.up))
        return SymmetricKernel((0...reach).map { exp(-0.5 * pow(Double($0) / sigma, 2)) })
    }
}

extension SymmetricKernel {
    /// Filters columns: computes samples of one row from those of the rows around it.
    ///
    /// - Parameters:
    ///   - lines: sample 0 of each row, from ``reach`` above to as many below.
    ///   - first: the first sample that is read.
    func column(
        _ lines: ArraySlice<UnsafePointer<Float>>, from first: Int,
        into target: UnsafeMutablePointer<Float>, count: Int
    ) {
        lines.withUnsafeBufferPointer { lines in
            guard let middle = lines.baseAddress.map({ $0 + reach }) else { return }
            sum(into: target, count) { middle[$0] + first }
        }
    }

    /// Filters a row, which has ``reach`` more columns on both sides.
    func row(_ row: PlanarRow, into out: PlanarRow, width: Int, planes: Int) {
        for plane in 0..<planes {
            let source = UnsafePointer(row[plane])
            sum(into: out[plane], width) { source + $0 }
        }
    }

    /// Computes thirty-two sums at a time, which stay in registers, then eight. Up to seven more than requested are computed.
    ///
    /// - Parameter source: returns the samples at a distance to one side; negative to the other.
    @inline(__always)
    private func sum(
        into target: UnsafeMutablePointer<Float>, _ count: Int,
        _ source: (_ side: Int) -> UnsafePointer<Float>
    ) {
        weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            let middle = source(0)
            var i = 0
            while i &+ 24 < count {
                let own = Octet(repeating: weights[0])
                var (a, b) = (own * middle.octet(i), own * middle.octet(i &+ 8))
                var (c, d) = (own * middle.octet(i &+ 16), own * middle.octet(i &+ 24))
                var side = 1
                while side <= reach {
                    let (left, right) = (source(-side) + i, source(side) + i)
                    let weight = Octet(repeating: weights[side])
                    a += weight * (left.octet(0) + right.octet(0))
                    b += weight * (left.octet(8) + right.octet(8))
                    c += weight * (left.octet(16) + right.octet(16))
                    d += weight * (left.octet(24) + right.octet(24))
                    side &+= 1
                }
                target.setOctet(i, a)
                target.setOctet(i &+ 8, b)
                target.setOctet(i &+ 16, c)
                target.setOctet(i &+ 24, d)
                i &+= 32
            }
            while i < count {
                var sum = Octet(repeating: weights[0]) * middle.octet(i)
                var side = 1
                while side <= reach {
                    let (left, right) = (source(-side) + i, source(side) + i)
                    sum += Octet(repeating: weights[side]) * (left.octet(0) + right.octet(0))
                    side &+= 1
                }
                target.setOctet(i, sum)
                i &+= 8
            }
        }
    }
}
