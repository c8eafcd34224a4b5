import Adjustments
import Glibc

/// CIMotionBlur: a one-dimensional Gaussian along a direction, σ = radius.
///
/// On linear light multiplied by alpha; the angle counts counter-clockwise with y up, as in Core
/// Image. Measured against Core Image's own pixels: RMS 0.85 to 1.05 of 255 for σ = 0.97 to 1.0 ×
/// radius; a box blur is wrong by far. Outside the photo its outermost pixels go on, and the result
/// has the photo's size, where raw Core Image would grow a fading margin.
///
/// Samples lie one pixel apart along the axis that the direction is closest to, and are interpolated
/// between two rows (or columns) of the other axis only. A wide Gaussian is made of two narrow ones,
/// since variances add: one with σ₁, then a comb with σ₂² = σ² − σ₁² whose teeth are ``toothSpacing`` σ₁
/// apart. What the comb lets through of its own rhythm is e^(−2π²/spacing²) < 0.1 %. The work grows with √σ:
/// 50 samples per pixel for radius 25 instead of 176, 260 for radius 500 instead of 3501.
struct CIMotionBlur: NeighbourhoodFilter {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = FilterDefinition(
        name: "CIMotionBlur",
        summary: "Blurs the photo along one direction, as a camera that moved would.",
        category: .blur,
        parameters: [
            // Core Image names no maximum; 500 pixels is ours, five times the slider's end: it bounds
            // the rows that a slanted blur keeps in memory.
            .number(
                "inputRadius", "How far the blur reaches: the σ of a Gaussian.", default: 20,
                0...500, .pixels, identity: 0),
            .number(
                "inputAngle", "The direction, counter-clockwise from the right.", default: 0,
                -2 * .pi...2 * .pi, .radians),
        ],
        fidelity: .measured(rms: 1.05),
        source: "A one-dimensional Gaussian with σ = radius; a box blur is wrong by far.",
        kernel: .neighbourhood { filter, _ in CIMotionBlur(filter) })

    /// Where the Gaussian is cut, in σ: 0.05 % of its weight lie outside.
    static let cutoff = 3.5
    /// Distance of the comb's teeth, in σ of the first Gaussian.
    static let toothSpacing = 1.5
    /// Below this σ, in samples, one Gaussian is quicker than two.
    static let singleSigmaMax = 6.0

    /// The convolutions that make the blur, first one first; none for radius 0.
    let stages: [any WindowStage]

    init(_ filter: Filter) {
        let radius = filter.number("inputRadius")
        let angle = filter.number("inputAngle")
        let (dx, dy) = (cos(angle), -sin(angle))
        let isSteep = abs(dy) > abs(dx)
        // Per sample: one pixel along the major axis, `slope` along the other.
        let major = isSteep ? abs(dy) : abs(dx)
        let slope = isSteep ? dx / dy : dy / dx
        let sigma = radius * major
        guard radius > 0 else {
            stages = []
            return
        }
        func kernel(_ sigma: Double, spacing: Int) -> DirectionalKernel {
            DirectionalKernel(sigma: sigma, spacing: spacing, slope: slope, isSteep: isSteep)
        }
        guard sigma > Self.singleSigmaMax else {
            stages = [kernel(sigma, spacing: 1)]
            return
        }
        let first = (sigma / Self.toothSpacing).squareRoot()
        let spacing = max(1, Int(first * Self.toothSpacing))
        // The comb goes first: what it makes outside the photo, for the other to read, is then a
        // narrow margin.
        stages = [
            kernel((sigma * sigma - first * first).squareRoot(), spacing: spacing),
            kernel(first, spacing: 1),
        ]
    }
}

/// A weighted sum of pixels along a line.
struct DirectionalKernel: WindowStage {
    /// One pixel of the sum, by its place from the middle.
    struct Tap: Sendable {
        let column, row: Int
        let weight: Float
    }

    let taps: [Tap]
    /// How far it looks to each side.
    let columns, rows: Int

    init(sigma: Double, spacing: Int, slope: Double, isSteep: Bool) {
        let step = Double(spacing)
        let last = Int((CIMotionBlur.cutoff * sigma / step).rounded(.up))
        var weights = (-last...last).map { exp(-0.5 * pow(Double($0) * step / sigma, 2)) }
        let sum = weights.reduce(0, +)
        weights = weights.map { $0 / sum }
        var taps: [Tap] = []
        for (index, weight) in weights.enumerated() {
            let along = (index - last) * spacing
            let across = Double(along) * slope
            let whole = across.rounded(.down)
            for (offset, share) in [(0, 1 - (across - whole)), (1, across - whole)]
            where share > 1e-6 {
                let minor = Int(whole) + offset
                taps.append(
                    Tap(
                        column: isSteep ? minor : along, row: isSteep ? along : minor,
                        weight: Float(weight * share)))
            }
        }
        self.taps = taps
        columns = taps.map { abs($0.column) }.max() ?? 0
        rows = taps.map { abs($0.row) }.max() ?? 0
    }

    func run(_ input: SampleRectangle, _ output: SampleRectangle, bands: Int) {
        let count = output.width * bands
        for row in 0..<output.height {
            let out = output.row(row)
            for i in 0..<count { out[i] = 0 }
            for tap in taps {
                let line =
                    input.row(row + rows + tap.row)
                    + (columns + tap.column) * bands
                let weight = tap.weight
                for i in 0..<count { out[i] += weight * line[i] }
            }
        }
    }

    func run(
        whole input: SampleRectangle, _ output: SampleRectangle, bands: Int,
        shift: (column: Int, row: Int)
    ) {
        let (left, width) = (output.left + shift.column, output.width)
        for row in 0..<output.height {
            let out = output.row(row)
            for i in 0..<width * bands { out[i] = 0 }
            for tap in taps {
                let wanted = output.top + row + shift.row + tap.row
                let y = min(max(wanted, 0), input.height - 1)
                let line = input.row(y)
                let weight = tap.weight
                // Columns of the output whose source lies inside the image.
                let first = min(max(-(left + tap.column), 0), width)
                let end = min(max(input.width - (left + tap.column), first), width)
                let source = line + (left + tap.column) * bands
                for i in first * bands..<end * bands { out[i] += weight * source[i] }
                let last = line + (input.width - 1) * bands
                for x in 0..<first {
                    for band in 0..<bands { out[x * bands + band] += weight * line[band] }
                }
                for x in end..<width {
                    for band in 0..<bands { out[x * bands + band] += weight * last[band] }
                }
            }
        }
    }
}
