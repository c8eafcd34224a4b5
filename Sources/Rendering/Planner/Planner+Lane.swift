import Adjustments
import RenderProtocol

extension Planner {
    /// Rows × width that a pass may keep in memory while it streams, in bytes. A taller window goes to the
    /// spool lane.
    static let windowBytesMax = 24 << 20

    /// How the photo is read.
    static func lane(of passes: [Pass]) -> RenderPlan.Lane {
        for pass in passes {
            switch pass {
            // Filters that look at neighbours make rows from rows, and keep few.
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
            // A window of light; the whole as codes would be as good when that is a third of it.
            return 3 * rows < geometry.source.height
                && rows * geometry.source.width * 16 <= windowBytesMax
        }
    }
}
