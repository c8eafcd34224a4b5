import Adjustments

/// The next step with the passes of a plan, as ``PassRunner`` runs them, and as memory and spool are estimated.
enum RenderStep {
    /// Filters of single pixels, which the next step takes along.
    case filter([Pass.Pixel])
    /// Whole pixels are cut out or change places; `isLast` when nothing but that follows.
    case place(Geometry, isLast: Bool)
    /// Passes over rows, in one run. The first may be a warp of a picture that is read in any order.
    case rows([Pass], isLast: Bool)

    /// The next step; nil at the end.
    ///
    /// - Parameters:
    ///   - rest: passes that are still to be run.
    ///   - isWaiting: whether there are filters that no step has taken along yet.
    static func next(of rest: inout ArraySlice<Pass>, isWaiting: Bool) -> RenderStep? {
        guard let pass = rest.popFirst() else { return nil }
        if case .pixels(let pixels) = pass { return .filter(pixels) }
        if case .geometry(let geometry) = pass, geometry.isLossless {
            // A part that is cut out between filters and rows is cut out of rows: a picture less.
            let isOfRows = isWaiting && RowPlan.takes(pass) && !rest.allSatisfy(\.isPlain)
            if !isOfRows { return .place(geometry, isLast: rest.allSatisfy(\.isLossless)) }
        }
        let rows = rest.prefix(while: RowPlan.takes)
        rest = rest.dropFirst(rows.count)
        return .rows([pass] + rows, isLast: rest.allSatisfy(\.isLossless))
    }
}

extension Pass {
    /// Whether it makes pixels of those at one place alone.
    fileprivate var isPlain: Bool {
        if case .pixels = self { true } else { isLossless }
    }
}
