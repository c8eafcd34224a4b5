package import Adjustments
import Filters

extension Geometry {
    /// Its result, made of rows from top to bottom.
    ///
    /// - Parameter source: read once; ``Planner/streams(_:)`` says whether that is possible. A turn is none of rows.
    package func rows(from source: any RowSource) -> any RowSource {
        switch kind {
        case .identity: return source
        case .crop(let part): return CroppedRows(source, to: part)
        case .turn: preconditionFailure("a turn lets pixels change places, which are no rows")
        case .scale: return ScaledRows(shrunk(source), self, shrink: shrink)
        case .warp: return WarpedRows(shrunk(source), self, shrink: shrink)
        }
    }

    private func shrunk(_ source: any RowSource) -> any RowSource {
        let shrink = shrink
        return shrink == (1, 1)
            ? source : BlockMeanRows(source, columns: shrink.columns, rows: shrink.rows)
    }
}
