import Edits

/// CIGaussianBlur: σ = radius, on linear light multiplied by alpha.
struct CIGaussianBlur: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIGaussianBlur",
        summary: "Blurs the photo evenly in all directions.",
        category: .blur,
        parameters: [
            .number(
                "inputRadius", "How far the blur reaches: the σ of a Gaussian.", default: 10,
                BlurParameters.radiusRange, .pixels, identity: 0),
            BlurParameters.edge,
        ],
        fidelity: .measured(rms: 0.45),
        source: """
            A Gaussian with σ = radius on linear light multiplied by alpha, as Core Image has done since iOS 12 (before, it \
            blurred encoded values). Wide ones are computed on a coarse grid; edges of white on black differ from the exact sum \
            by 0.6 steps of an 8-bit code at the most.
            """,
        gain: .recomputed,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CIGaussianBlur(filter) })

    private let blur: GaussianBlur
    let growth: Extent

    init(_ filter: Filter) {
        let radius = filter.number("inputRadius")
        blur = GaussianBlur(columns: radius, rows: radius, edge: BlurParameters.edge(of: filter))
        growth = BlurParameters.growth(by: 3 * radius, blur.edge)
    }

    var reach: Extent { blur.reach }
    var edge: EdgeMode { blur.edge }

    func rows(from source: any RowSource) -> any RowSource {
        blur.rows(from: source.padded(by: growth))
    }
}

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
