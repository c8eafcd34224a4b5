import Edits

/// The next step of a plan's passes. ``PassRunner`` runs these steps, and memory and spool are estimated from them.
enum PassStep {
    /// Per-pixel filters, which the next step applies.
    case filter([Pass.Pixel])
    /// Whole pixels are cropped or moved; `isLast` if only such steps follow.
    case move(Geometry, isLast: Bool)
    /// Passes over rows, in one run. The first may be a warp that reads its picture in any order.
    case rows([Pass], isLast: Bool)

    /// Returns the next step; nil at the end.
    ///
    /// - Parameters:
    ///   - rest: the remaining passes.
    ///   - isWaiting: whether filters are pending.
    static func next(of rest: inout ArraySlice<Pass>, isWaiting: Bool) -> PassStep? {
        guard let pass = rest.popFirst() else { return nil }
        if case .pixels(let pixels) = pass { return .filter(pixels) }
        if case .geometry(let geometry) = pass, geometry.isLossless {
            // A crop between filters and rows is done on rows, which saves a picture.
            let runsOnRows = isWaiting && RowPlan.supports(pass) && !rest.allSatisfy(\.isPlain)
            if !runsOnRows { return .move(geometry, isLast: rest.allSatisfy(\.isLossless)) }
        }
        let rows = rest.prefix(while: RowPlan.supports)
        rest = rest.dropFirst(rows.count)
        return .rows([pass] + rows, isLast: rest.allSatisfy(\.isLossless))
    }
}

extension Pass {
    /// Whether it computes each pixel from the pixel at one position only.
    fileprivate var isPlain: Bool {
        if case .pixels = self { true } else { isLossless }
    }
}
