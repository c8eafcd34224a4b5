import Adjustments

/// Where a chain of rows is cut into parts that threads run side by side.
///
/// The photo is always read by a thread of its own.
struct StageCuts: Equatable {
    /// Behind which passes that make rows of their own, counted from 1.
    let places: [Int]

    /// Most parts of a chain: more would have less to do than their rings cost.
    private static let partsMax = 4

    /// Cuts so that parts take about the same time.
    ///
    /// - Parameters:
    ///   - passes: of one run over rows.
    ///   - threads: that may run parts.
    /// - Returns: nil when one thread runs all: there is one, or the first pass reads the photo in any order.
    init?(of passes: [Pass], threads: Int) {
        guard threads > 1 else { return nil }
        if case .geometry(let first)? = passes.first(where: { !$0.isPixels }),
            !Planner.streams(first)
        {
            return nil
        }
        self.init(costs: Self.costs(of: passes), parts: min(threads, Self.partsMax))
    }

    /// Cuts where the sum of costs is nearest to equal shares.
    ///
    /// - Parameter costs: of each pass of rows with the filters of pixels before it, and of all that comes after them.
    init(costs: [Double], parts: Int) {
        let sums = costs.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
        let total = sums.last ?? 0
        let nearest = (1..<max(1, parts)).compactMap { part in
            let share = total * Double(part) / Double(parts)
            return (1..<max(1, costs.count)).min {
                abs(sums[$0] - share) < abs(sums[$1] - share)
            }
        }
        places = Array(Set(nearest)).sorted()
    }

    /// Processor time of the parts that could be cut apart, in milliseconds for a megapixel of what goes into them.
    static func costs(of passes: [Pass]) -> [Double] {
        var costs: [Double] = []
        var waiting = 0.0
        for pass in passes {
            waiting += TimeEstimate.milliseconds(of: pass)
            guard !pass.isPixels else { continue }
            costs.append(waiting)
            waiting = 0
        }
        return costs + [waiting]
    }
}
