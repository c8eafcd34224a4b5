import Adjustments
import Glibc
import RenderProtocol

/// Decides how a photo is rendered: recipe and header in, plan out. No I/O.
enum Planner {
    /// Longest side of a JPEG: `JPEG_MAX_DIMENSION` of libjpeg-turbo.
    static let jpegSideMax = 65_500

    /// A render, planned: what is told about it, and what it is done with.
    struct Planned: Sendable {
        let plan: RenderPlan
        let passes: [Pass]
        /// Of the picture that is written.
        let size: PixelSize
    }

    /// One pass over the photo, ready to run.
    enum Pass: Sendable {
        case pixels([any PixelFilter])
        case neighbourhood(any NeighbourhoodFilter)

        /// The filter that looks at neighbours, if it is one.
        var neighbourhoodFilter: (any NeighbourhoodFilter)? {
            guard case .neighbourhood(let filter) = self else { return nil }
            return filter
        }

        /// Whether its result is transparent in places, whatever it is run over.
        var makesAlpha: Bool { neighbourhoodFilter?.edge == .transparent }
    }

    /// Plans a render.
    ///
    /// - Parameters:
    ///   - recipe: already in pixels of the full photo.
    ///   - resource: where the file of a digest is.
    /// - Throws: `tooManyPixels` when the output format cannot hold the picture, and what filters refuse
    ///   their parameters with.
    static func plan(
        _ recipe: Recipe, for header: PhotoHeader,
        resource: @escaping @Sendable (String) throws(Failure) -> String
    ) throws(Failure) -> Planned {
        let format = recipe.output.format ?? (header.format == "png" ? .png : .jpeg)
        var told: [RenderPlan.Pass] = []
        var passes: [Pass] = []
        var waiting: [(filter: Filter, working: any PixelFilter)] = []
        var size = header.uprightSize
        func endPixelPass() {
            guard !waiting.isEmpty else { return }
            told.append(.pixels(waiting.map(\.filter)))
            passes.append(.pixels(waiting.map(\.working)))
            waiting = []
        }
        for filter in recipe.filters {
            let context = FilterContext(size: size, resource: resource)
            switch filter.definition.kernel {
            case .pixel(let make):
                waiting.append((filter, try make(filter, context)))
            case .neighbourhood(let make):
                endPixelPass()
                let working = try make(filter, context)
                let reach = working.reach
                told.append(.neighbourhood(filter, columns: reach.columns, rows: reach.rows))
                passes.append(.neighbourhood(working))
                size = PixelSize(
                    width: size.width + 2 * working.growth.columns,
                    height: size.height + 2 * working.growth.rows)
            case .generator, .automatic:
                preconditionFailure("\(filter.name) is no step, or was not resolved")
            }
        }
        endPixelPass()
        if format == .jpeg, max(size.width, size.height) > jpegSideMax {
            throw Failure(
                .tooManyPixels,
                "The picture is \(size) pixels; a JPEG's sides are at most \(jpegSideMax). Ask for "
                    + "png as edit.output.format.")
        }
        return Planned(
            plan: RenderPlan(
                lane: header.orientation <= 2 ? .stream : .spool,
                orientation: header.orientation, passes: told, format: format,
                quality: recipe.output.quality),
            passes: passes, size: size)
    }
}
