import Edits
import RenderProtocol

/// One pass over the photo, ready to run.
enum Pass: Sendable {
    /// Per-pixel filters that are computed together, in executable form.
    struct Pixel: Sendable {
        /// The filters with the recipe's names.
        let filters: [Filter]
        /// The filter that computes them; nil if they change nothing.
        let working: (any PixelFilter)?
        /// The form into which they were joined; nil for a single filter.
        var joined: RenderPlan.PixelStep.Joined?

        var usesPosition: Bool { working?.usesPosition ?? false }
        var changesAlpha: Bool { working?.changesAlpha ?? false }
    }

    /// Per-pixel filters: each pixel is read once and written once.
    case pixels([Pixel])
    /// One filter that reads neighbouring pixels.
    case neighbourhood(Filter, any NeighbourhoodFilter)
    /// A geometry, which moves pixels.
    case geometry(Geometry)

    /// The pass as data, for output to people and other processes.
    var reported: RenderPlan.Pass {
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

    /// Whether each pixel's result depends only on its colour.
    var isPositionIndependent: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return !pixels.contains(where: \.usesPosition)
    }

    /// Whether it consists of per-pixel filters.
    var isPixels: Bool { if case .pixels = self { true } else { false } }

    /// Whether it is a geometry.
    var isGeometry: Bool { if case .geometry = self { true } else { false } }

    /// Whether it contains a per-pixel filter that may change alpha.
    var changesAlpha: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return pixels.contains(where: \.changesAlpha)
    }

    /// Whether it only moves whole pixels.
    var isLossless: Bool {
        if case .geometry(let geometry) = self { geometry.isLossless } else { false }
    }
}
