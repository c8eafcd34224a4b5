/// The range within which each sample of an enlarged axis stays: that of the four samples of the source around it.
///
/// In linear light, Lanczos' negative lobes make the dark side of an edge darker by a tenth of the bright side's light, which is black beside a
/// mid-grey: a line that everybody sees. Without them, edges would be soft.
struct EnlargementLimits {
    /// The first of the four samples of each result, perhaps outside of the source.
    private let starts: [Int]
    private let last: Int

    private static let samples = 4

    /// - Returns: nil for an axis that is reduced, or only moved.
    init?(_ axis: ReductionAxis, of source: Int) {
        guard axis.step < 1 else { return nil }
        starts = (0..<axis.count).map { index in
            let centre = axis.offset + (Double(index) + 0.5) * axis.step
            return Int((centre - 0.5).rounded(.down)) - 1
        }
        last = source - 1
    }

    private func sample(_ result: Int, _ number: Int) -> Int {
        min(max(starts[result] + number, 0), last)
    }

    /// Limits samples of a row.
    ///
    /// - Parameters:
    ///   - made: the first one of a part.
    ///   - source: the row of which they are made.
    func limit(
        _ made: UnsafeMutablePointer<Float>, _ part: Range<Int>, of source: UnsafePointer<Float>
    ) {
        for x in part {
            var (least, most) = (Float.infinity, -Float.infinity)
            for number in 0..<Self.samples {
                let value = source[sample(x, number)]
                (least, most) = (min(least, value), max(most, value))
            }
            let index = x - part.lowerBound
            made[index] = min(max(made[index], least), most)
        }
    }

    /// Limits a row.
    ///
    /// - Parameters:
    ///   - made: its samples, `count` of them.
    ///   - result: its number.
    ///   - row: returns a row of the source by its number.
    func limit(
        _ made: UnsafeMutablePointer<Float>, _ count: Int, of result: Int,
        _ row: (Int) -> UnsafeMutablePointer<Float>
    ) {
        let rows = (0..<Self.samples).map { row(sample(result, $0)) }
        for x in 0..<count {
            var (least, most) = (Float.infinity, -Float.infinity)
            for row in rows { (least, most) = (min(least, row[x]), max(most, row[x])) }
            made[x] = min(max(made[x], least), most)
        }
    }
}
