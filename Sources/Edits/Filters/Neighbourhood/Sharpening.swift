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

/// CISharpenLuminance: sharpens the brightness and keeps the colour.
///
///     out = x + sharpness · (Y − blur(Y))    the same for red, green and blue
struct CISharpenLuminance: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CISharpenLuminance",
        summary: "Sharpens the photo's brightness and leaves its colours.",
        category: .blur,
        parameters: [
            // Core Image documents no maximum; 20 is ours, ten times the slider's end.
            .number(
                "inputSharpness", "How much of the difference to the blur is added.",
                default: 0.4, 0...20, identity: 0),
            .number(
                "inputRadius", "The σ of the blur: how wide edges are made clear.",
                default: 1.69, BlurParameters.combinedRadiusRange, .pixels),
        ],
        fidelity: .measured(rms: 1.22),
        source: """
            x + sharpness · (Y − Gaussian(Y)), σ = radius, Y = 0.2125 R + 0.7154 G + 0.0721 B of linear light; a fit to Core \
            Image's own pixels gave radius 1.695 and sharpness 0.400, its defaults.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CISharpenLuminance(filter) })

    private let blur: GaussianBlur
    private let sharpness: Float

    init(_ filter: Filter) {
        let radius = filter.number("inputRadius")
        blur = BlurParameters.combined(radius)
        sharpness = Float(filter.number("inputSharpness"))
    }

    var reach: Extent { blur.reach }

    func rows(from source: any RowSource) -> any RowSource {
        CombinedRows(source, withPlane: PlaneRows.luminance, blurredBy: blur) {
            [sharpness] picture, blurred, out, format in
            let (red, green, blue) = (picture[0], picture[1], picture[2])
            let (outRed, outGreen, outBlue) = (out[0], out[1], out[2])
            let soft = blurred.start
            for x in 0..<format.width {
                let more = sharpness * (Luminance.of(red[x], green[x], blue[x]) - soft[x])
                outRed[x] = red[x] + more
                outGreen[x] = green[x] + more
                outBlue[x] = blue[x] + more
            }
            if format.planes == 4 { out[3].update(from: picture[3], count: format.width) }
        }
    }
}

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
