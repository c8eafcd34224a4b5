import Edits

/// CIMedianFilter: the median of 3 × 3 pixels, per channel, on linear light multiplied by alpha.
///
/// Measured against Core Image's own pixels: 99.65 % are equal.
struct CIMedianFilter: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIMedianFilter",
        summary: "Takes single wrong pixels out of the photo.",
        category: .blur,
        fidelity: .exact,
        source:
            "The median of 3 × 3 pixels per channel; 99.65 % of Core Image's own pixels are the same.",
        gain: .recomputed,
        light: .unlimited,
        kernel: .neighbourhood { _, _ in CIMedianFilter() })

    let reach = Extent(columns: 1, rows: 1)

    func rows(from source: any RowSource) -> any RowSource {
        WindowRows(source, reach: 1) { window, y, out in
            _ = window.row(y + 1)
            for plane in 0..<window.format.planes {
                Self.median(
                    window.row(y - 1)[plane], window.row(y)[plane], window.row(y + 1)[plane],
                    out[plane], window.format.width)
            }
        }
    }

    /// Returns the median of three values: the maximum of the columns' minima, the median of their medians, and the minimum of
    /// their maxima.
    private static func median(
        _ above: UnsafePointer<Float>, _ here: UnsafePointer<Float>, _ below: UnsafePointer<Float>,
        _ out: UnsafeMutablePointer<Float>, _ width: Int
    ) {
        for x in 0..<width {
            let (low0, mid0, high0) = sorted(above[x - 1], here[x - 1], below[x - 1])
            let (low1, mid1, high1) = sorted(above[x], here[x], below[x])
            let (low2, mid2, high2) = sorted(above[x + 1], here[x + 1], below[x + 1])
            let low = greater(greater(low0, low1), low2)
            let high = lesser(lesser(high0, high1), high2)
            out[x] = sorted(low, sorted(mid0, mid1, mid2).1, high).1
        }
    }

    @inline(__always)
    private static func lesser(_ a: Float, _ b: Float) -> Float { a < b ? a : b }
    @inline(__always)
    private static func greater(_ a: Float, _ b: Float) -> Float { a > b ? a : b }

    @inline(__always)
    private static func sorted(_ a: Float, _ b: Float, _ c: Float) -> (Float, Float, Float) {
        let (low, high) = (lesser(a, b), greater(a, b))
        return (lesser(low, c), greater(low, lesser(high, c)), greater(high, c))
    }
}

/// CINoiseReduction, a look-alike: pixels that differ little from their neighbours are smoothed, the others are sharpened.
///
///     w = (1 + (ΔY / 2 noiseLevel)²)⁻⁴     for each of the 3 × 3 neighbours, ΔY its difference in luminance
///     smooth = Σ w x / Σ w
///     out = smooth + sharpness · (1 − mean w) · (x − mean x)
///
/// Apple documents only that changes below the noise level are blurred and larger ones are sharpened.
struct CINoiseReduction: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CINoiseReduction",
        summary: "Smooths what differs little from its neighbours and sharpens the rest.",
        category: .blur,
        parameters: [
            // Core Image documents no maxima; 1 and 20 are ours, ten times the sliders' ends.
            .number(
                "inputNoiseLevel", "Differences in luminance below it are noise.", default: 0.02,
                0...1),
            .number("inputSharpness", "How much the rest is sharpened.", default: 0.4, 0...20),
        ],
        fidelity: .lookAlike,
        source: """
            Apple's kernel is unpublished. Ours: a mean of 3 × 3 pixels, weighted by how little their luminance differs, and \
            the difference to the plain mean added where it differs much.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CINoiseReduction(filter) })

    let reach = Extent(columns: 1, rows: 1)
    private let scale: Float
    private let sharpness: Float

    init(_ filter: Filter) {
        // The minimum keeps equal neighbours equal.
        scale = Float(1 / max(filter.number("inputNoiseLevel"), 1e-4))
        sharpness = Float(filter.number("inputSharpness"))
    }

    func rows(from source: any RowSource) -> any RowSource {
        let width = source.format.width
        // Luminance of three rows, the sum of weights, and the weighted and plain sums of a plane.
        let work = ScratchRow(width: width, planes: 7, margin: 1)
        return WindowRows(source, reach: 1) { [scale, sharpness] window, y, out in
            _ = window.row(y + 1)
            let rows = (-1...1).map { window.row(y + $0) }
            for (index, row) in rows.enumerated() {
                let (red, green, blue, light) = (row[0], row[1], row[2], work.row[index])
                for x in -1...width { light[x] = Luminance.of(red[x], green[x], blue[x]) }
            }
            let middle = work.row[1]
            let (weights, weight) = (work.row[3], work.row[4])
            let (smooth, plain) = (work.row[5], work.row[6])
            for plane in 0..<window.format.planes {
                for line in [weights, smooth, plain] { line.update(repeating: 0, count: width) }
                for row in 0..<3 {
                    for column in -1...1 {
                        let (light, colour) = (work.row[row] + column, rows[row][plane] + column)
                        for x in 0..<width {
                            let difference = scale * (light[x] - middle[x])
                            // An approximation of e^(−d²), and cheap.
                            let quarter = 1 / (1 + 0.25 * difference * difference)
                            weight[x] = quarter * quarter * quarter * quarter
                        }
                        for x in 0..<width {
                            weights[x] += weight[x]
                            smooth[x] += weight[x] * colour[x]
                            plain[x] += colour[x]
                        }
                    }
                }
                let (target, colour) = (out[plane], rows[1][plane])
                let amount = plane == 3 ? 0 : sharpness
                for x in 0..<width {
                    let edge = 1 - weights[x] / 9
                    target[x] =
                        smooth[x] / weights[x] + amount * edge * (colour[x] - plain[x] / 9)
                }
            }
        }
    }
}
