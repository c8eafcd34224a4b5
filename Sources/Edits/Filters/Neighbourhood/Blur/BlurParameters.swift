import Edits

/// The common parameters of blurs.
enum BlurParameters {
    /// The range of radii. Core Image documents no maximum; 500 pixels is ours, five times the end of its sliders.
    static let radiusRange = 0.0...500

    /// The range of radii of a blur that is combined with the photo: 200 pixels, twice the end of the sliders, because the photo's
    /// rows are kept for as long as the blur reads ahead.
    static let combinedRadiusRange = 0.0...200

    /// Returns a blur to be combined with a photo, on a grid fine enough that it reads little further ahead than necessary.
    static func combined(
        _ radius: Double, edge: EdgeMode = .clamp, space: GaussianBlur.Space = .linear
    ) -> GaussianBlur {
        GaussianBlur(columns: radius, rows: radius, edge: edge, space: space, stepMax: 16)
    }

    /// The parameter for pixels outside of the photo.
    static let edge = ParameterDefinition.choice(
        "edge",
        "What lies outside of the photo: `clamp` repeats its outermost pixels and keeps its size; "
            + "`transparent` is raw Core Image, whose result fades out beyond the photo and is larger.",
        [EdgeMode.clamp.rawValue, EdgeMode.transparent.rawValue])

    /// Returns the value of ``edge``.
    static func edge(of filter: Filter) -> EdgeMode {
        EdgeMode(rawValue: filter.text("edge")) ?? .clamp
    }

    /// Returns the growth of a result on each side, as measured from Core Image's.
    static func growth(by pixels: Double, _ edge: EdgeMode) -> Extent {
        guard edge == .transparent else { return .none }
        let whole = Int(pixels.rounded(.up))
        return Extent(columns: whole, rows: whole)
    }
}
