import Edits

/// CIHighlightShadowAdjust, a look-alike: brightens shadows and darkens highlights, by the brightness of the surroundings.
///
/// With Y the luminance blurred by `radius` (the pixel's own for 0), each colour is multiplied by
///
///     shadows      1 + amount · 0.225 / √Y · (1 − smoothstep(0.02, 0.33, Y))    for an amount above 0,
///                  1 / (1 + |amount| · …)                                        below
///     highlights   1 − (1 − amount) · 1.2 · Y (1 − Y) · smoothstep(0.4, 0.6, Y)
///
/// The numbers are a fit to the luminance of Core Image's own result for 0.75 and 1.5: from a gain of 8 at Y = 0.002 to 1 at 0.5.
/// Core Image also makes saturated colours more saturated; ours keeps their ratios.
struct CIHighlightShadowAdjust: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIHighlightShadowAdjust",
        summary: "Brings light into shadows and takes it off highlights.",
        category: .tone,
        parameters: [
            .number(
                "inputRadius", "The σ of the blur of the brightness that decides.", default: 0,
                BlurParameters.combinedRadiusRange, .pixels),
            // Core Image documents 1 as maximum but accepts more: its own sample has 1.5.
            .number(
                "inputShadowAmount", "How much light shadows get, or lose below 0.", default: 0,
                -1...2, identity: 0),
            .number(
                "inputHighlightAmount", "How much of their light highlights keep.", default: 1,
                0...1, identity: 1),
        ],
        fidelity: .lookAlike,
        source: """
            Apple's kernel is unpublished. Ours multiplies colours by a gain that depends on the blurred luminance, fitted to \
            the luminance of one of Core Image's own results.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CIHighlightShadowAdjust(filter) })

    private let blur: GaussianBlur
    private let shadow: Float
    private let highlight: Float

    init(_ filter: Filter) {
        let radius = filter.number("inputRadius")
        blur = BlurParameters.combined(radius)
        shadow = Float(filter.number("inputShadowAmount"))
        highlight = Float(filter.number("inputHighlightAmount"))
    }

    var reach: Extent { blur.reach }

    func rows(from source: any RowSource) -> any RowSource {
        CombinedRows(source, withPlane: PlaneRows.luminance, blurredBy: blur) {
            [shadow, highlight] picture, blurred, out, format in
            let (gain, width) = (blurred.start, format.width)
            let (darker, lighter) = (shadow < 0 ? -shadow : 0, shadow > 0 ? shadow : 0)
            let less = (1 - highlight) * 1.2
            for x in 0..<width {
                let above = gain[x] > 1e-4 ? gain[x] : 1e-4
                let light = above < 1 ? above : 1
                let lift = 0.225 / light.squareRoot() * (1 - Self.step(light, 0.02, 0.33))
                let dim = less * light * (1 - light) * Self.step(light, 0.4, 0.6)
                gain[x] = (1 + lighter * lift) / (1 + darker * lift) * (1 - dim)
            }
            for plane in 0..<3 {
                let (target, colour) = (out[plane], picture[plane])
                for x in 0..<width { target[x] = colour[x] * gain[x] }
            }
            if format.planes == 4 { out[3].update(from: picture[3], count: width) }
        }
    }

    @inline(__always)
    private static func step(_ x: Float, _ from: Float, _ to: Float) -> Float {
        let t = (x - from) / (to - from)
        let inside = t < 0 ? 0 : t > 1 ? 1 : t
        return inside * inside * (3 - 2 * inside)
    }
}
