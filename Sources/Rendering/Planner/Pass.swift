import Edits
import RenderProtocol

/// One pass over the photo, ready to run.
enum Pass: Sendable {
    /// Per-pixel filters that are computed together, in executable form.
    struct Pixel: Sendable {
        let filters: [Filter]
        /// The filter that computes them; nil if they change nothing.
        let working: (any PixelFilter)?
        /// The form into which they were joined; nil for a single filter.
        var joined: RenderPlan.PixelStep.Joined?

        var usesPosition: Bool { working?.usesPosition ?? false }
        var changesAlpha: Bool { working?.changesAlpha ?? false }
    }

    /// Per-pixel filters: each pixel is read once and written once.
    case pixels([Pixel])
    /// One filter that reads neighbouring pixels.
    case neighbourhood(Filter, any NeighbourhoodFilter)
    /// A geometry, which moves pixels.
    case geometry(Geometry)

    /// The pass as data, for output to people and other processes.
    var reported: RenderPlan.Pass {
        switch self {
        case .pixels(let pixels):
            return .pixels(
                pixels.map { RenderPlan.PixelStep(filters: $0.filters, joined: $0.joined) })
        case .neighbourhood(let filter, let working):
            let reach = working.reach
            return .neighbourhood(filter, columns: reach.columns, rows: reach.rows)
        case .geometry(let geometry): return .geometry(geometry)
        }
    }

    /// Whether each pixel's result depends only on its colour.
    var isPositionIndependent: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return !pixels.contains(where: \.usesPosition)
    }

    var isPixels: Bool { if case .pixels = self { true } else { false } }

    var isGeometry: Bool { if case .geometry = self { true } else { false } }

    /// Whether it contains a per-pixel filter that may change alpha.
    var changesAlpha: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return pixels.contains(where: \.changesAlpha)
    }

    /// Whether it only moves whole pixels.
    var isLossless: Bool {
        if case .geometry(let geometry) = self { geometry.isLossless } else { false }
    }
}

/// A step of a plan's passes. ``PassRunner`` and ``FrameRunner`` run these steps, and memory and spool are estimated from them.
struct PassStep {
    enum Action {
        /// Whole pixels are cropped or moved.
        case move(Geometry)
        /// Passes over rows, in one run. The first may be a warp that reads its picture in any order.
        case rows([Pass])
        /// The picture becomes codes: the last step.
        case codes
    }

    /// Per-pixel filters that come before it; the step applies them.
    let filters: [Pass.Pixel]
    let action: Action
    /// Whether only whole pixels are moved after it.
    let isLast: Bool

    static func steps(of passes: [Pass]) -> [PassStep] {
        var steps: [PassStep] = []
        var filters: [Pass.Pixel] = []
        var rest = passes[...]
        while let pass = rest.popFirst() {
            if case .pixels(let pixels) = pass {
                filters = pixels
                continue
            }
            let action: Action
            // A crop between filters and rows is done on rows, which saves a picture.
            if case .geometry(let geometry) = pass, geometry.isLossless,
                filters.isEmpty || !RowPlan.supports(pass) || rest.allSatisfy(\.isPlain)
            {
                action = .move(geometry)
            } else {
                let rows = rest.prefix(while: RowPlan.supports)
                rest = rest.dropFirst(rows.count)
                action = .rows([pass] + rows)
            }
            steps.append(
                PassStep(
                    filters: filters, action: action, isLast: rest.allSatisfy(\.isLossless)))
            filters = []
        }
        return steps + [PassStep(filters: filters, action: .codes, isLast: true)]
    }
}

extension Pass {
    /// Whether it computes each pixel from the pixel at one position only.
    fileprivate var isPlain: Bool {
        if case .pixels = self { true } else { isLossless }
    }
}

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
