package import Edits
import Filters

extension Geometry {
    /// Returns the geometry's result, made of rows from top to bottom.
    ///
    /// - Parameter source: read once, which must be possible, see ``Planner/streams(_:)``. A turn cannot be made of rows.
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
