import Adjustments
import Glibc
import RenderProtocol

/// Decides how a photo is rendered: recipe and header in, plan out. No I/O.
enum Planner {
    /// Rows × width that a neighbourhood pass may keep in memory while it streams, in bytes of
    /// linear pixels (16 each). A taller window goes to the spool lane.
    static let windowBytesMax = 64 << 20

    /// A render, planned: what is told about it, and what it is done with.
    struct Planned: Sendable {
        let plan: RenderPlan
        let passes: [Pass]
    }

    /// One pass over the photo, ready to run.
    enum Pass: Sendable {
        case pixels([any PixelFilter])
        case neighbourhood(any NeighbourhoodFilter)
    }

    /// Plans a render.
    ///
    /// - Parameters:
    ///   - recipe: already in pixels of the full photo.
    ///   - planes: the chroma of the result when the planes of a JPEG are edited, or nil when they cannot be.
    ///   - resource: where the file of a digest is.
    /// - Throws: `invalidValue` or `tooManyPixels` when the output format cannot do what is asked, and what
    ///   filters refuse their parameters with.
    static func plan(
        _ recipe: Recipe, for header: PhotoHeader, planes: Recipe.Chroma? = nil,
        resource: @escaping @Sendable (String) throws(Failure) -> String
    ) throws(Failure) -> Planned {
        let size = header.uprightSize
        var output = try output(recipe.output, for: header)
        let context = FilterContext(size: size, resource: resource)
        var told: [RenderPlan.Pass] = []
        var passes: [Pass] = []
        var waiting: [(filter: Filter, working: any PixelFilter)] = []
        var isTall = false
        func endPixelPass() {
            guard !waiting.isEmpty else { return }
            told.append(.pixels(waiting.map(\.filter)))
            passes.append(.pixels(waiting.map(\.working)))
            waiting = []
        }
        for filter in recipe.filters {
            switch filter.definition.kernel {
            case .pixel(let make):
                waiting.append((filter, try make(filter, context)))
            case .neighbourhood(let make):
                endPixelPass()
                let working = try make(filter, context)
                let reach = working.reach
                told.append(.neighbourhood(filter, columns: reach.columns, rows: reach.rows))
                passes.append(.neighbourhood(working))
                if Self.isTall(rows: reach.rows, width: size.width) { isTall = true }
            case .generator, .automatic:
                preconditionFailure("\(filter.name) is no step, or was not resolved")
            }
        }
        endPixelPass()
        var lane: RenderPlan.Lane = header.orientation <= 2 && !isTall ? .stream : .spool
        if let planes, passes.count == 1, case .pixels(let filters) = passes[0],
            !filters.contains(where: \.usesPosition), output.format == .jpeg,
            output.colorSpace == .source, recipe.output.chroma ?? planes == planes
        {
            lane = .planes
            output.chroma = planes
        }
        return Planned(
            plan: RenderPlan(
                lane: lane,
                orientation: header.orientation, resultSize: size, passes: told, output: output,
                notes: header.notes),
            passes: passes)
    }

    /// Whether a window of so many rows above and below is too large to stream.
    static func isTall(rows: Int, width: Int) -> Bool {
        (2 * rows + 1) * width * 16 > windowBytesMax
    }
}
