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
