import Edits

/// CIColorMatrix: each component becomes a sum of all four and a bias.
///
/// It runs on linear light, not multiplied by alpha. Alpha is clamped to 0 to 1, whereas Core Image would produce over-bright
/// pixels.
struct CIColorMatrix: FusiblePixels {
    private static let row: [ParameterDefinition.Unit] = [.factor, .factor, .factor, .factor]
    // Core Image documents no limits; these are ours.
    private static let range = -1000.0...1000.0

    private static func row(_ name: String, _ summary: String, _ identity: [Double])
        -> ParameterDefinition
    {
        .vector(name, summary, default: identity, range, row, identity: identity)
    }

    static let definition = FilterDefinition(
        name: "CIColorMatrix",
        summary: "Mixes red, green, blue and alpha by a matrix.",
        category: .tone,
        parameters: [
            row("inputRVector", "Shares of red, green, blue and alpha in red.", [1, 0, 0, 0]),
            row("inputGVector", "Shares of them in green.", [0, 1, 0, 0]),
            row("inputBVector", "Shares of them in blue.", [0, 0, 1, 0]),
            row("inputAVector", "Shares of them in alpha.", [0, 0, 0, 1]),
            row("inputBiasVector", "What is added to red, green, blue and alpha.", [0, 0, 0, 0]),
        ],
        fidelity: .exact,
        source: """
            Documented by Apple. That it works on linear light was measured: on encoded values it is off by 49.
            """,
        gain: .recomputed,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIColorMatrix(filter) })

    /// The four coefficients of each result.
    private let rows: [[Float]]
    private let bias: [Float]

    var changesAlpha: Bool { rows[3] != [0, 0, 0, 1] || bias[3] != 0 }

    /// Only for colours: if alpha contributes to no colour and stays unchanged.
    var form: PixelForm? {
        guard !changesAlpha, rows[..<3].allSatisfy({ $0[3] == 0 }) else { return nil }
        return .matrix(
            ColourTransform(
                rows: (0..<3).flatMap { row in
                    rows[row][..<3].map { Double($0) } + [Double(bias[row])]
                }))
    }

    init(_ filter: Filter) {
        rows = ["R", "G", "B", "A"].map { filter.floats("input\($0)Vector") }
        bias = filter.floats("inputBiasVector")
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue, alpha) = (pixels.red, pixels.green, pixels.blue, pixels.alpha)
        let (r, g, b, a) = (rows[0], rows[1], rows[2], rows[3])
        for i in 0..<pixels.count {
            let (x, y, z, w) = (red[i], green[i], blue[i], alpha[i])
            red[i] = r[0] * x + r[1] * y + r[2] * z + r[3] * w + bias[0]
            green[i] = g[0] * x + g[1] * y + g[2] * z + g[3] * w + bias[1]
            blue[i] = b[0] * x + b[1] * y + b[2] * z + b[3] * w + bias[2]
            alpha[i] = a[0] * x + a[1] * y + a[2] * z + a[3] * w + bias[3]
        }
        pixels.limitAlpha()
    }
}
