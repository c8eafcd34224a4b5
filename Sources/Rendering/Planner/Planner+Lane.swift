import Edits
import RenderProtocol

extension Planner {
    /// Bytes of rows that a pass may keep in memory while it streams. A taller window uses the spool lane.
    static let windowBytesMax = 24 << 20

    /// Returns the lane in which the photo is read.
    static func lane(of passes: [Pass]) -> RenderPlan.Lane {
        for pass in passes {
            switch pass {
            // Filters that read neighbours make rows from rows, and keep few.
            case .pixels, .neighbourhood: break
            case .geometry(let geometry): if !streams(geometry) { return .spool }
            }
        }
        return .stream
    }

    /// Whether a geometry reads its source from top to bottom with a few rows at a time.
    static func streams(_ geometry: Geometry) -> Bool {
        switch geometry.kind {
        case .identity, .crop, .scale: return true
        case .turn(let turn): return turn == .mirrored
        case .warp:
            guard let rows = geometry.streamingRows else { return false }
            // The window is kept as light. If it exceeds a third of the picture, keeping the whole picture as codes costs no more.
            return 3 * rows < geometry.source.height
                && rows * geometry.source.width * 16 <= windowBytesMax
        }
    }
}
