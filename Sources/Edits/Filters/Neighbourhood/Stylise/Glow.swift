import Edits

/// The common part of CIBloom and CIGloom: the brighter, or the darker, of a picture and its blur.
///
///     out = x + intensity · (max(x, blur(x)) − x)    bloom; with min it is gloom
///
/// It runs on linear light multiplied by alpha, and treats alpha like the colours.
struct Glow: NeighbourhoodFilter {
    let growth: Extent
    private let blur: GaussianBlur
    private let intensity: Float
    private let brightens: Bool

    init(_ filter: Filter, brightens: Bool, space: GaussianBlur.Space = .linear) {
        let radius = filter.number("inputRadius")
        blur = BlurParameters.combined(
            radius, edge: BlurParameters.edge(of: filter), space: space)
        intensity = Float(filter.number("inputIntensity"))
        growth = BlurParameters.growth(by: 3 * radius, blur.edge)
        self.brightens = brightens
    }

    var reach: Extent { blur.reach }
    var edge: EdgeMode { blur.edge }

    static let parameters: [ParameterDefinition] = [
        .number(
            "inputRadius", "How far the glow reaches: the σ of a Gaussian.", default: 10,
            BlurParameters.combinedRadiusRange, .pixels),
        .number(
            "inputIntensity", "How much of the effect there is.", default: 0.5, 0...1,
            identity: 0),
        BlurParameters.edge,
    ]

    func rows(from source: any RowSource) -> any RowSource {
        CombinedRows(source.padded(by: growth), with: blur) {
            [intensity, brightens] picture, blurred, out, format in
            for plane in 0..<format.planes {
                let (x, soft, result) = (picture[plane], blurred[plane], out[plane])
                if brightens {
                    for i in 0..<format.width {
                        let change = soft[i] - x[i]
                        result[i] = x[i] + intensity * (change > 0 ? change : 0)
                    }
                } else {
                    for i in 0..<format.width {
                        let change = soft[i] - x[i]
                        result[i] = x[i] + intensity * (change < 0 ? change : 0)
                    }
                }
            }
        }
    }
}
