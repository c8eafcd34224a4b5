import Adjustments
import Glibc
import RenderProtocol

/// Decides how a photo is rendered: recipe and header in, plan out. No I/O.
enum Planner {
    /// Longest side of a JPEG: `JPEG_MAX_DIMENSION` of libjpeg-turbo.
    static let jpegSideMax = 65_500

    /// Rows × width that a neighbourhood pass may keep in memory while it streams, in bytes of
    /// linear pixels (16 each). A taller window goes to the spool lane.
    static let windowBytesMax = 64 << 20

    /// Plans a render.
    ///
    /// - Parameter recipe: already in pixels of the full photo.
    /// - Throws: `tooManyPixels` when the output format cannot hold the picture.
    static func plan(_ recipe: Recipe, for header: PhotoHeader) throws(Failure) -> RenderPlan {
        let format = recipe.output.format ?? (header.format == "png" ? .png : .jpeg)
        let size = header.uprightSize
        if format == .jpeg, max(size.width, size.height) > jpegSideMax {
            throw Failure(
                .tooManyPixels,
                "The photo is \(size) pixels; a JPEG's sides are at most \(jpegSideMax). Ask for "
                    + "png as edit.output.format.")
        }
        var passes: [RenderPlan.Pass] = []
        var pixels: [Filter] = []
        var isTall = false
        for filter in recipe.filters {
            switch filter.definition.reach {
            case .pixel: pixels.append(filter)
            case .neighbourhood:
                if !pixels.isEmpty { passes.append(.pixels(pixels)) }
                pixels = []
                let reach = reach(of: filter)
                passes.append(
                    .neighbourhood(filter, columns: reach.columns, rows: reach.rows))
                if Self.isTall(rows: reach.rows, width: size.width) { isTall = true }
            }
        }
        if !pixels.isEmpty { passes.append(.pixels(pixels)) }
        return RenderPlan(
            lane: header.orientation <= 2 && !isTall ? .stream : .spool,
            orientation: header.orientation, passes: passes, format: format,
            quality: recipe.output.quality)
    }

    /// Whether a window of so many rows above and below is too large to stream.
    static func isTall(rows: Int, width: Int) -> Bool {
        (2 * rows + 1) * width * 16 > windowBytesMax
    }

    /// How far a neighbourhood filter looks.
    static func reach(of filter: Filter) -> (columns: Int, rows: Int) {
        switch filter.name {
        case FilterName.edges: (1, 1)
        case FilterName.motionBlur: MotionBlur(filter).reach
        default: preconditionFailure("\(filter.name) does not look at neighbours")
        }
    }
}
