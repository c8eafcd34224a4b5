import Adjustments

/// What the blurs' parameters have in common.
enum BlurParameters {
    /// Core Image names no maximum for radii; 500 pixels is ours, five times the end of its sliders.
    static let radiusRange = 0.0...500

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
