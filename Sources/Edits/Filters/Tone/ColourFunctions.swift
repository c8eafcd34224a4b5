import Edits

/// CIColorCrossPolynomial: each colour becomes a quadratic polynomial of all three, on linear light.
struct CIColorCrossPolynomial: PixelFilter {
    private static let terms = 10
    private static let channels = ["Red", "Green", "Blue"]

    private static func coefficients(of channel: Int) -> ParameterDefinition {
        var identity = Array(repeating: 0.0, count: terms)
        identity[channel] = 1
        // Core Image documents no limits; these are ours.
        return .vector(
            "input\(channels[channel])Coefficients",
            "Factors of r, g, b, r², g², b², rg, gb, br and 1 in "
                + "\(channels[channel].lowercased()).",
            default: identity, -1000...1000, Array(repeating: .factor, count: terms),
            identity: identity)
    }

    static let definition = FilterDefinition(
        name: "CIColorCrossPolynomial",
        summary: "Mixes the colours and their products.",
        category: .tone,
        parameters: channels.indices.map(coefficients(of:)),
        fidelity: .measured(rms: 0.05),
        source: """
            r, g, b, r², g², b², rg, gb, br, 1 on linear light. Apple documents the number of terms; their order was \
            confirmed for g² by Core Image's pixels.
            """,
        gain: .dropped,
        light: .unlimited(when: { filter in
            channels.allSatisfy {
                filter.vector("input\($0)Coefficients")[3..<9].allSatisfy { $0 == 0 }
            }
        }),
        kernel: .pixel { filter, _ in CIColorCrossPolynomial(filter) })

    private let coefficients: [[Float]]

    init(_ filter: Filter) {
        coefficients = Self.channels.map { filter.floats("input\($0)Coefficients") }
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (forRed, forGreen, forBlue) = (coefficients[0], coefficients[1], coefficients[2])
        for i in 0..<pixels.count {
            let (r, g, b) = (red[i], green[i], blue[i])
            red[i] = Self.sum(forRed, r, g, b)
            green[i] = Self.sum(forGreen, r, g, b)
            blue[i] = Self.sum(forBlue, r, g, b)
        }
    }

    @inline(__always)
    private static func sum(_ c: [Float], _ r: Float, _ g: Float, _ b: Float) -> Float {
        let linear = c[0] * r + c[1] * g + c[2] * b + c[9]
        let squares = c[3] * r * r + c[4] * g * g + c[5] * b * b
        return linear + squares + c[6] * r * g + c[7] * g * b + c[8] * b * r
    }
}

/// CIColorPolynomial: each component becomes a cubic polynomial of itself, on linear light, not multiplied by alpha; alpha is
/// clamped to 0 to 1.
struct CIColorPolynomial: PixelFilter {
    private static func coefficients(of channel: String) -> ParameterDefinition {
        // Core Image documents no limits; these are ours.
        .vector(
            "input\(channel)Coefficients",
            "c0, c1, c2, c3 of c0 + c1 x + c2 x² + c3 x³ for \(channel.lowercased()).",
            default: [0, 1, 0, 0], -1000...1000, [.factor, .factor, .factor, .factor],
            identity: [0, 1, 0, 0])
    }
    private static let channels = ["Red", "Green", "Blue", "Alpha"]

    static let definition = FilterDefinition(
        name: "CIColorPolynomial",
        summary: "Puts each component through a cubic polynomial.",
        category: .tone,
        parameters: channels.map(coefficients(of:)),
        fidelity: .exact,
        source: "Documented by Apple; on linear light, as the other polynomial's pixels show.",
        gain: .dropped,
        light: .unlimited(when: { filter in
            channels.allSatisfy {
                filter.vector("input\($0)Coefficients")[2...].allSatisfy { $0 == 0 }
            }
        }),
        kernel: .pixel { filter, _ in CIColorPolynomial(filter) })

    private let coefficients: [[Float]]

    var changesAlpha: Bool { coefficients[3] != [0, 1, 0, 0] }

    init(_ filter: Filter) {
        coefficients = Self.channels.map { filter.floats("input\($0)Coefficients") }
    }

    func apply(to pixels: PixelChunk) {
        for (index, plane) in (pixels.colours + [pixels.alpha]).enumerated() {
            let c = coefficients[index]
            let (c0, c1, c2, c3) = (c[0], c[1], c[2], c[3])
            for i in 0..<pixels.count {
                let x = plane[i]
                plane[i] = c0 + x * (c1 + x * (c2 + x * c3))
            }
        }
        pixels.limitAlpha()
    }
}

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

/// CIColorCurves: a curve for each of red, green and blue, by samples, in a colour space.
struct CIColorCurves: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorCurves",
        summary: "Puts red, green and blue through a curve each.",
        category: .tone,
        parameters: [
            // 1024 samples of three numbers fill an edit; Core Image documents no limit.
            ParameterDefinition(
                name: "inputCurvesData",
                summary: "Red, green and blue of each sample, equally spaced over the domain.",
                kind: .samples(-100...100, count: 6...3072, groups: 3),
                defaultValue: [0, 0, 0, 1, 1, 1], identity: [0, 0, 0, 1, 1, 1]),
            .vector(
                "inputCurvesDomain", "The values of the first and the last sample.",
                default: [0, 1], -100...100, [.factor, .factor]),
            NamedColourSpace.parameter("inputColorSpace", "What the samples are values of."),
        ],
        fidelity: .exact,
        source: """
            Documented by Apple: straight lines between samples. Beyond the domain the outermost lines go on.
            """,
        gain: .kept,
        light: .unlimited(when: { isRising(beyondWhite: $0) }),
        kernel: .pixel { filter, _ throws(Failure) in try CIColorCurves(filter) })

    private let curves: [SampledCurve]
    private let space: NamedColourSpace

    /// Whether all three curves rise beyond white. An invalid domain passes, because it is rejected elsewhere.
    private static func isRising(beyondWhite filter: Filter) -> Bool {
        let (domain, data) = (filter.vector("inputCurvesDomain"), filter.vector("inputCurvesData"))
        let last = data.count / 3 - 1
        guard domain[0] < domain[1], last > 0 else { return true }
        return (1...last).allSatisfy { sample in
            let end = domain[0] + (domain[1] - domain[0]) * Double(sample) / Double(last)
            guard end > 1 || sample == last else { return true }
            return (0..<3).allSatisfy { data[3 * sample + $0] > data[3 * (sample - 1) + $0] }
        }
    }

    init(_ filter: Filter) throws(Failure) {
        let domain = filter.vector("inputCurvesDomain")
        guard domain[0] < domain[1] else {
            throw Failure(
                .invalidValue,
                "CIColorCurves' inputCurvesDomain is \(domain[0]) to \(domain[1]); expected its first "
                    + "number to be the smaller one.")
        }
        let data = filter.vector("inputCurvesData")
        curves = (0..<3).map { channel in
            SampledCurve(
                from: domain[0], to: domain[1],
                samples: stride(from: channel, to: data.count, by: 3).map { data[$0] })
        }
        space = NamedColourSpace(filter, "inputColorSpace")
    }

    func apply(to pixels: PixelChunk) {
        space.enter(pixels)
        for (plane, curve) in zip(pixels.colours, curves) {
            curve.apply(to: plane, count: pixels.count)
        }
        space.leave(pixels)
    }
}
