import Edits

/// CIUnsharpMask: adds the difference between the photo and its blur.
///
///     out = x + intensity · (x − blur(x))    per channel, on linear light multiplied by alpha
struct CIUnsharpMask: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIUnsharpMask",
        summary: "Sharpens the photo by the difference to its own blur.",
        category: .blur,
        parameters: [
            .number(
                "inputRadius", "The σ of the blur: how wide edges are made clear.", default: 2.5,
                BlurParameters.combinedRadiusRange, .pixels),
            // Core Image documents no maximum; 10 is ours, ten times the slider's end.
            .number(
                "inputIntensity", "How much of the difference is added.", default: 0.5, 0...10,
                identity: 0),
            BlurParameters.edge,
        ],
        fidelity: .measured(rms: 0.6),
        source: """
            x + intensity · (x − Gaussian(x)), σ = radius. Measured on an OS that blurred encoded values; ours blurs linear \
            light, as Core Image has done since iOS 12.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CIUnsharpMask(filter) })

    private let blur: GaussianBlur
    private let intensity: Float

    init(_ filter: Filter, space: GaussianBlur.Space = .linear) {
        let radius = filter.number("inputRadius")
        blur = BlurParameters.combined(
            radius, edge: BlurParameters.edge(of: filter), space: space)
        intensity = Float(filter.number("inputIntensity"))
        growth = BlurParameters.growth(by: 3 * radius, blur.edge)
    }

    let growth: Extent
    var reach: Extent { blur.reach }
    var edge: EdgeMode { blur.edge }

    func rows(from source: any RowSource) -> any RowSource {
        CombinedRows(source.padded(by: growth), with: blur) {
            [intensity] picture, blurred, out, format in
            for plane in 0..<format.planes {
                let (x, soft, sharp) = (picture[plane], blurred[plane], out[plane])
                // Alpha stays unchanged.
                let amount = plane == 3 ? 0 : intensity
                for i in 0..<format.width { sharp[i] = x[i] + amount * (x[i] - soft[i]) }
            }
        }
    }
}
