import Glibc

/// Which samples make each sample of a line of another length, and with which weights.
///
/// The Lanczos kernel with three lobes, sinc(x) · sinc(x/3), as wide as the coarser of both lines asks
/// for. Weights of a sample sum up to 1; outside the line its last sample goes on.
package struct LanczosTable: Sendable {
    /// Samples that make one.
    package let taps: Int
    /// By result: its first sample.
    package let starts: [Int]
    /// By result and tap.
    package let weights: [Float]

    private static let lobes = 3.0

    /// - Parameters:
    ///   - count: samples of the result.
    ///   - step: distance of their centres in the source; above 0.
    ///   - offset: where the result begins in the source.
    ///   - source: samples of the source.
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
