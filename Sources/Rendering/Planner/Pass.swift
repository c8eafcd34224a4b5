import Adjustments
import RenderProtocol

/// One pass over the photo, ready to run.
enum Pass: Sendable {
    /// A per-pixel filter in its working form.
    struct Pixel: Sendable {
        let filter: Filter
        let working: any PixelFilter
    }

    /// Per-pixel filters, fused.
    case pixels([Pixel])
    /// One filter that looks at neighbours.
    case neighbourhood(Filter, any NeighbourhoodFilter)
    /// Other places.
    case geometry(Geometry)

    /// As data, for people and other processes.
    var told: RenderPlan.Pass {
        switch self {
        case .pixels(let pixels): return .pixels(pixels.map(\.filter))
        case .neighbourhood(let filter, let working):
            let reach = working.reach
            return .neighbourhood(filter, columns: reach.columns, rows: reach.rows)
        case .geometry(let geometry): return .geometry(geometry)
        }
    }

    /// Whether each pixel's result depends on its colour alone.
    var isPlaceless: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return !pixels.contains(where: \.working.usesPosition)
    }

    /// Whether it is one.
    var isGeometry: Bool { if case .geometry = self { true } else { false } }

    /// Whether it is a filter of pixels that may make alpha another one.
    var changesAlpha: Bool {
        guard case .pixels(let pixels) = self else { return false }
        return pixels.contains(where: \.working.changesAlpha)
    }

    /// Whether it only lets pixels change places.
    var isLossless: Bool {
        if case .geometry(let geometry) = self { geometry.isLossless } else { false }
    }
}
