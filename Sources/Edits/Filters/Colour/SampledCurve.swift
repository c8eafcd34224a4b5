import Edits

/// A function of one number as equally spaced samples with linear interpolation.
///
/// Beyond its domain, it is extrapolated linearly from the first or last two samples.
struct SampledCurve: Sendable {
    private let table: Table<Float>
    private let low, scale: Float

    /// Tabulates `count` samples of a function over its domain.
    init(from low: Double, to high: Double, count: Int, _ function: (Double) -> Double) {
        let step = (high - low) / Double(count - 1)
        self.init(
            from: low, to: high, samples: (0..<count).map { function(low + step * Double($0)) })
    }

    /// Requires at least two samples.
    init(from low: Double, to high: Double, samples: [Double]) {
        table = Table(count: samples.count) { Float(samples[$0]) }
        self.low = Float(low)
        scale = Float(Double(samples.count - 1) / (high - low))
    }

    /// Replaces each number of a plane by the function's value.
    func apply(to plane: UnsafeMutablePointer<Float>, count: Int) {
        let (ends, low, scale) = (table.values, low, scale)
        let last = Float(table.count - 2)
        TablePositions.inBlocks(plane, count) { positions, plane, count in
            for i in 0..<count {
                let position = (plane[i] - low) * scale
                // A number outside of the domain uses the outermost piece.
                let above = position > 0 ? position : 0
                let entry = positions.setEntry(i, above < last ? above : last)
                positions.parts[i] = position - entry
            }
            positions.lookUp(ends: ends, into: plane, count: count)
        }
    }
}
