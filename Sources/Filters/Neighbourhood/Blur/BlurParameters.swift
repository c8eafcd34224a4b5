import Adjustments

/// What the blurs' parameters have in common.
enum BlurParameters {
    /// Core Image names no maximum for radii; 500 pixels is ours, five times the end of its sliders.
    static let radiusRange = 0.0...500

    /// The same for a blur that a photo is combined with: 200 pixels, twice the end of the sliders, since the
    /// photo's rows are kept for as long as the blur runs ahead.
    static let combinedRadiusRange = 0.0...200

    /// A blur that a photo is combined with, on a grid fine enough that it runs little more ahead than it has to.
    static func combined(
        _ radius: Double, edge: EdgeMode = .clamp, space: GaussianBlur.Space = .linear
    ) -> GaussianBlur {
        GaussianBlur(columns: radius, rows: radius, edge: edge, space: space, stepMax: 16)
    }

    /// What a filter takes for the pixels outside of the photo.
    static let edge = ParameterDefinition.choice(
        "edge",
        "What lies outside of the photo: `clamp` goes on with its outermost pixels and keeps its size; "
            + "`transparent` is raw Core Image, whose result fades out beyond the photo and is larger.",
        [EdgeMode.clamp.rawValue, EdgeMode.transparent.rawValue])

    /// The value of ``edge``.
    static func edge(of filter: Filter) -> EdgeMode {
        EdgeMode(rawValue: filter.text("edge")) ?? .clamp
    }

    /// How much larger a result is on each side, as measured from Core Image's own.
    static func growth(by pixels: Double, _ edge: EdgeMode) -> Extent {
        guard edge == .transparent else { return .none }
        let whole = Int(pixels.rounded(.up))
        return Extent(columns: whole, rows: whole)
    }
}
