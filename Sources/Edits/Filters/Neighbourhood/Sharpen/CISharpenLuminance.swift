import Edits

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
