import Edits

/// CIEdges, a look-alike: the edges of the photo in colour on black.
///
///     out = clamp(intensity · √(gx² + gy²) / 4)    per linear channel, 3×3 Sobel differences
///
/// Apple's kernel is unpublished and no sample of it was found: never claim that this is equal. Outside the photo, its outermost
/// pixels are repeated. Alpha stays unchanged, and the edges are those of the picture multiplied by alpha.
struct CIEdges: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIEdges",
        summary: "Shows the edges of the photo in colour on black.",
        category: .stylise,
        parameters: [
            // Core Image documents no maximum; 100 is ours, ten times the slider's end.
            .number("inputIntensity", "How bright the edges are.", default: 1, 0...100)
        ],
        fidelity: .lookAlike,
        source: """
            Apple's kernel is unpublished and no sample of it was found. Ours: clamp(intensity · √(gx² + gy²) / 4) per \
            linear channel, 3×3 Sobel differences.
            """,
        gain: .dropped,
        kernel: .neighbourhood { filter, _ in CIEdges(filter) })

    let reach = Extent(columns: 1, rows: 1)
    private let gain: Float

    init(_ filter: Filter) { gain = Float(filter.number("inputIntensity") / 4) }

    func rows(from source: any RowSource) -> any RowSource {
        WindowRows(source, reach: 1) { [gain] window, y, out in
            let (above, here, below) = (window.row(y - 1), window.row(y), window.row(y + 1))
            for plane in 0..<3 {
                Self.edges(
                    above[plane], here[plane], below[plane], gain, out[plane],
                    window.format.width)
            }
            guard window.format.planes == 4 else { return }
            let (alpha, outAlpha) = (here[3], out[3])
            for x in 0..<window.format.width { outAlpha[x] = alpha[x] }
            for plane in 0..<3 {
                let edges = out[plane]
                for x in 0..<window.format.width { edges[x] *= alpha[x] }
            }
        }
    }

    private static func edges(
        _ above: UnsafePointer<Float>, _ here: UnsafePointer<Float>,
        _ below: UnsafePointer<Float>, _ gain: Float, _ out: UnsafeMutablePointer<Float>,
        _ width: Int
    ) {
        for x in 0..<width {
            let gx =
                above[x + 1] + 2 * here[x + 1] + below[x + 1]
                - (above[x - 1] + 2 * here[x - 1] + below[x - 1])
            let gy =
                below[x - 1] + 2 * below[x] + below[x + 1]
                - (above[x - 1] + 2 * above[x] + above[x + 1])
            let edge = gain * (gx * gx + gy * gy).squareRoot()
            out[x] = edge < 1 ? edge : 1
        }
    }
}
