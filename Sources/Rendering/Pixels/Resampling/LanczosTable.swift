import Glibc

/// The samples of a line, and their weights, that make each sample of a line of another length.
///
/// The Lanczos kernel with three lobes, sinc(x) · sinc(x/3), scaled for the coarser of the two lines. Weights of a sample sum up to
/// 1; outside the line, its last sample is repeated.
package struct LanczosTable: Sendable {
    /// The number of samples that make one.
    package let taps: Int
    /// The first sample for each result.
    package let starts: [Int]
    /// Weights by result and tap.
    package let weights: [Float]

    private static let lobes = 3.0

    /// - Parameters:
    ///   - count: number of samples of the result.
    ///   - step: distance of their centres in the source; above 0.
    ///   - offset: position in the source at which the result begins.
    ///   - source: number of samples of the source.
    package init(count: Int, step: Double, offset: Double, source: Int) {
        let width = max(1, step)
        let wanted = Int((2 * Self.lobes * width).rounded(.up)) + 1
        let taps = min(wanted, source)
        var starts: [Int] = []
        var weights = [Float](repeating: 0, count: count * taps)
        for index in 0..<count {
            let centre = offset + (Double(index) + 0.5) * step
            let first = Int((centre - Self.lobes * width).rounded(.down))
            let start = min(max(first, 0), source - taps)
            var line = [Double](repeating: 0, count: taps)
            for tap in first..<first + wanted {
                let weight = Self.kernel((Double(tap) + 0.5 - centre) / width)
                line[min(max(tap - start, 0), taps - 1)] += weight
            }
            let sum = line.reduce(0, +)
            for tap in 0..<taps { weights[index * taps + tap] = Float(line[tap] / sum) }
            starts.append(start)
        }
        self.taps = taps
        self.starts = starts
        self.weights = weights
    }

    private static func kernel(_ x: Double) -> Double {
        guard abs(x) < lobes else { return 0 }
        guard abs(x) > 1e-9 else { return 1 }
        let angle = Double.pi * x
        return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
    }
}
