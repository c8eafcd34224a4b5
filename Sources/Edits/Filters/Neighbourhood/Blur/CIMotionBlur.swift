import Edits
import Glibc

/// CIMotionBlur: a one-dimensional Gaussian along a direction, σ = radius.
///
/// It runs on linear light multiplied by alpha; the angle counts counter-clockwise with y up, as in Core Image. Measured against
/// Core Image's own pixels: RMS 0.85 to 1.05 of 255 for σ = 0.97 to 1.0 × radius; a box blur differs far more. Outside the photo,
/// its outermost pixels are repeated, and the result has the photo's size, whereas raw Core Image would grow a fading margin.
struct CIMotionBlur: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIMotionBlur",
        summary: "Blurs the photo along one direction, as a camera that moved would.",
        category: .blur,
        parameters: [
            .number(
                "inputRadius", "How far the blur reaches: the σ of a Gaussian.", default: 20,
                BlurParameters.radiusRange, .pixels, identity: 0),
            .number(
                "inputAngle", "The direction, counter-clockwise from the right.", default: 0,
                -2 * .pi...2 * .pi, .radians),
            BlurParameters.edge,
        ],
        fidelity: .measured(rms: 1.05),
        source: "A one-dimensional Gaussian with σ = radius; a box blur is wrong by far.",
        gain: .recomputed,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CIMotionBlur(filter) })

    private let blur: DirectionalBlur
    let growth: Extent

    init(_ filter: Filter) {
        let (radius, angle) = (filter.number("inputRadius"), filter.number("inputAngle"))
        let edge = BlurParameters.edge(of: filter)
        blur = DirectionalBlur(sigma: radius, angle: angle, edge: edge)
        growth =
            edge == .clamp
            ? .none
            : Extent(
                columns: Int((6 * radius * abs(cos(angle))).rounded(.up)),
                rows: Int((6 * radius * abs(sin(angle))).rounded(.up)))
    }

    var reach: Extent { blur.reach }
    var edge: EdgeMode { blur.edge }

    func rows(from source: any RowSource) -> any RowSource {
        blur.rows(from: source.padded(by: growth))
    }
}

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
