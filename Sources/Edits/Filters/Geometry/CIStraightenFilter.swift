import Edits
import Glibc

/// CIStraightenFilter: rotates about the centre, and enlarges so that no corner is empty.
///
///     scale = cos|a| + sin|a| · max(w/h, h/w)
enum CIStraightenFilter {
    static let definition = FilterDefinition(
        name: "CIStraightenFilter",
        summary: "Straightens a crooked photo, which keeps its size and loses its corners.",
        category: .geometry,
        parameters: [
            .number(
                "inputAngle", "How far the photo is turned counter-clockwise.", default: 0,
                -.pi / 2 ... .pi / 2, .radians, identity: 0)
        ],
        fidelity: .lookAlike,
        source: """
            Apple documents that it turns about the centre, scales up and crops to the former extent. The scale is ours: \
            the least that fills it, cos|a| + sin|a| · max(w/h, h/w). Resampled by bicubic interpolation in linear light.
            """,
        kernel: .geometry { filter, context in
            let angle = filter.number("inputAngle")
            let (width, height) = (Double(context.size.width), Double(context.size.height))
            let scale =
                cos(abs(angle)) + sin(abs(angle)) * max(width / height, height / width)
            let (c, s) = (cos(angle) / scale, sin(angle) / scale)
            let toSource =
                Homography.shift(width / 2, height / 2)
                * Homography(affine: c, s, 0, -s, c, 0)
                * Homography.shift(-width / 2, -height / 2)
            return Geometry(of: context.size, size: context.size, toSource: toSource)
        })
}
