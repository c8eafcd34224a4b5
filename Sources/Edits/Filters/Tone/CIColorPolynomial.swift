import Edits

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
