import Adjustments
import RenderProtocol

/// One pass over the photo, ready to run.
enum Pass: Sendable {
    /// Per-pixel filters that are computed together, in their working form.
    struct Pixel: Sendable {
        /// As the recipe names them.
        let filters: [Filter]
        /// The filter that computes them; nil when they change nothing.
        let working: (any PixelFilter)?
        /// The form that they were joined to; nil for one as it is.
        var joined: RenderPlan.PixelStep.Joined?

        var usesPosition: Bool { working?.usesPosition ?? false }
        var changesAlpha: Bool { working?.changesAlpha ?? false }
    }

    /// Per-pixel filters: each pixel is read once and written once.
    case pixels([Pixel])
    /// One filter that looks at neighbours.
    case neighbourhood(Filter, any NeighbourhoodFilter)
    /// Other places.
    case geometry(Geometry)

    /// As data, for people and other processes.
    var told: RenderPlan.Pass {
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

    /// Whether each pixel's result depends on its colour alone.
    var isPlaceless: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return !pixels.contains(where: \.usesPosition)
    }

    /// Whether it is one of pixels.
    var isPixels: Bool { if case .pixels = self { true } else { false } }

    /// Whether it is one of places.
    var isGeometry: Bool { if case .geometry = self { true } else { false } }

    /// Whether it is a filter of pixels that may make alpha another one.
    var changesAlpha: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return pixels.contains(where: \.changesAlpha)
    }

    /// Whether it only lets pixels change places.
    var isLossless: Bool {
        if case .geometry(let geometry) = self { geometry.isLossless } else { false }
    }
}
