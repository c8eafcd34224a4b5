import Edits

/// The positions where a chain of rows is cut into stages that run on parallel threads.
///
/// A separate thread always reads the photo.
struct StageCuts: Equatable {
    /// The numbers, from 1, of the passes after which the chain is cut; only passes that make rows count.
    let positions: [Int]

    /// The most stages of a chain: the work of smaller stages would not outweigh the cost of their rings.
    private static let partsMax = 4

    /// Cuts into stages of about equal time.
    ///
    /// - Parameters:
    ///   - passes: the passes of one run over rows.
    ///   - threads: the threads that may run stages.
    /// - Returns: nil if one thread runs all: if only one is allowed, or if the first pass reads the photo in any order.
    init?(of passes: [Pass], threads: Int) {
        guard threads > 1 else { return nil }
        if case .geometry(let first)? = passes.first(where: { !$0.isPixels }),
            !Planner.streams(first)
        {
            return nil
        }
        self.init(costs: Self.costs(of: passes), parts: min(threads, Self.partsMax))
    }

    /// Cuts at the cumulative costs nearest to equal shares.
    ///
    /// - Parameter costs: of each row pass with the pixel filters before it, and of everything after the last one.
    init(costs: [Double], parts: Int) {
        let sums = costs.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
        let total = sums.last ?? 0
        let nearest = (1..<max(1, parts)).compactMap { part in
            let share = total * Double(part) / Double(parts)
            return (1..<max(1, costs.count)).min {
                abs(sums[$0] - share) < abs(sums[$1] - share)
            }
        }
        positions = Array(Set(nearest)).sorted()
    }

    /// Returns the processor time of the parts that can be separated, in milliseconds per megapixel of their input.
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
