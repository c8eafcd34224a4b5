import Adjustments

/// CIEdges, a look-alike: the edges of the photo in colour on black.
///
///     out = clamp(intensity · √(gx² + gy²) / 4)    per linear channel, 3×3 Sobel differences
///
/// Apple's kernel is unpublished and no sample of it was found: never claim that this is equal.
/// Outside the photo its outermost pixels go on. Alpha stays as it is, and the edges are those of
/// the picture multiplied by alpha.
struct CIEdges: NeighbourhoodFilter, WindowStage {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = FilterDefinition(
        name: "CIEdges",
        summary: "Shows the edges of the photo in colour on black.",
        category: .stylise,
        parameters: [
            // Core Image names no maximum; 100 is ours, ten times the slider's end.
            .number("inputIntensity", "How bright the edges are.", default: 1, 0...100)
        ],
        fidelity: .lookAlike,
        source: """
            Apple's kernel is unpublished and no sample of it was found. Ours: clamp(intensity · √(gx² + gy²) / 4) per \
            linear channel, 3×3 Sobel differences.
            """,
        kernel: .neighbourhood { filter, _ in CIEdges(filter) })

    let columns = 1
    let rows = 1
    var stages: [any WindowStage] { [self] }
    private let gain: Float

    init(_ filter: Filter) { gain = Float(filter.number("inputIntensity") / 4) }

    func run(_ input: SampleRectangle, _ output: SampleRectangle, bands: Int) {
        for row in 0..<output.height {
            let above = input.row(row)
            let here = input.row(row + 1)
            let below = input.row(row + 2)
            let out = output.row(row)
            for i in 0..<output.width * bands {
                let (left, middle, right) = (i, i + bands, i + 2 * bands)
                let gx =
                    above[right] + 2 * here[right] + below[right]
                    - (above[left] + 2 * here[left] + below[left])
                let gy =
                    below[left] + 2 * below[middle] + below[right]
                    - (above[left] + 2 * above[middle] + above[right])
                let edge = gain * (gx * gx + gy * gy).squareRoot()
                out[i] = edge < 1 ? edge : 1
            }
            guard bands == 4 else { continue }
            for pixel in 0..<output.width {
                let alpha = here[(pixel + 1) * 4 + 3]
                out[pixel * 4 + 3] = alpha
                for channel in 0..<3 { out[pixel * 4 + channel] *= alpha }
            }
        }
    }

    func run(
        whole input: SampleRectangle, _ output: SampleRectangle, bands: Int,
        shift: (column: Int, row: Int)
    ) {
        preconditionFailure("a window of three rows always streams")
    }
}
