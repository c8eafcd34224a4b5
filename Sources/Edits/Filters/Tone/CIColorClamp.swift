import Edits

/// CIColorClamp: keeps each component, linear and not multiplied by alpha, within its limits.
struct CIColorClamp: PixelFilter {
    // A component is red, green, blue or alpha; ±100 is far beyond what a photo holds.
    private static let range = -100.0...100.0

    static let definition = FilterDefinition(
        name: "CIColorClamp",
        summary: "Cuts off what lies outside of limits.",
        category: .tone,
        parameters: [
            .vector(
                "inputMinComponents", "The least red, green, blue and alpha.",
                default: [0, 0, 0, 0], range, [.factor, .factor, .factor, .factor]),
            .vector(
                "inputMaxComponents", "The most red, green, blue and alpha.",
                default: [1, 1, 1, 1], range, [.factor, .factor, .factor, .factor]),
        ],
        fidelity: .exact,
        source: "A clamp on linear light, not multiplied by alpha; equal to Core Image's pixels.",
        gain: .recomputed,
        light: .unlimited(when: { $0.vector("inputMaxComponents")[..<3].allSatisfy { $0 > 1 } }),
        kernel: .pixel { filter, _ throws(Failure) in try CIColorClamp(filter) })

    private let least, most: [Float]

    /// A photo without alpha has alpha 1 everywhere.
    var changesAlpha: Bool { most[3] < 1 }

    init(_ filter: Filter) throws(Failure) {
        least = filter.floats("inputMinComponents")
        most = filter.floats("inputMaxComponents")
        for (index, (low, high)) in zip(least, most).enumerated() where low > high {
            throw Failure(
                .invalidValue,
                "CIColorClamp's inputMinComponents[\(index)] is \(low), more than "
                    + "inputMaxComponents[\(index)], which is \(high); expected min ≤ max.")
        }
    }

    func apply(to pixels: PixelChunk) {
        for (index, plane) in (pixels.colours + [pixels.alpha]).enumerated() {
            let (low, high) = (least[index], most[index])
            for i in 0..<pixels.count { plane[i] = min(max(plane[i], low), high) }
        }
        pixels.limitAlpha()
    }
}
