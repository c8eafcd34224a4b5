import Edits

/// CSS's `blur()`: a Gaussian on sRGB-encoded values, as browsers blur.
struct CSSBlur: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "css:blur",
        summary: "Blurs the photo evenly in all directions, as a browser does.",
        category: .css,
        parameters: [
            .number(
                "radius", "The σ of a Gaussian.", default: 0, BlurParameters.radiusRange,
                .pixels, identity: 0),
            BlurParameters.edge,
        ],
        fidelity: .exact,
        source: """
            W3C Filter Effects 1, feGaussianBlur: a Gaussian with σ = radius on sRGB-encoded values multiplied by alpha. CSS \
            lets the result fade out beyond the photo; that is `edge` transparent.
            """,
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CSSBlur(filter) })

    private let blur: GaussianBlur
    let growth: Extent

    init(_ filter: Filter) {
        let radius = filter.number("radius")
        blur = GaussianBlur(
            columns: radius, rows: radius, edge: BlurParameters.edge(of: filter), space: .encoded)
        growth = BlurParameters.growth(by: 3 * radius, blur.edge)
    }

    var reach: Extent { blur.reach }
    var edge: EdgeMode { blur.edge }

    func rows(from source: any RowSource) -> any RowSource {
        blur.rows(from: source.padded(by: growth))
    }
}
