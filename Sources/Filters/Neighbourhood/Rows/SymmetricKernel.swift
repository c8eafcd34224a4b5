import Adjustments
import Glibc

/// Symmetric weights for a filter along rows or columns.
struct SymmetricKernel: Sendable {
    /// The weight of the centre, then of its neighbours to either side; the sum, with both sides counted, is 1.
    let weights: [Float]
    /// The weights from one end to the other.
    let taps: [Float]
    /// How far it looks to each side.
    var reach: Int { weights.count - 1 }

    /// Creates a kernel from weights, which are scaled to a sum of 1.
    init(_ weights: [Double]) {
        let sum = weights[0] + 2 * weights.dropFirst().reduce(0, +)
        self.weights = weights.map { Float($0 / sum) }
        taps = self.weights.dropFirst().reversed() + self.weights
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
