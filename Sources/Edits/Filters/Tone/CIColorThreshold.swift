import Edits

/// CIColorThreshold: each linear channel becomes 0 or 1.
struct CIColorThreshold: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorThreshold",
        summary: "Makes each channel none or full.",
        category: .tone,
        parameters: [
            .number(
                "inputThreshold", "From this much linear light on a channel is full.",
                default: 0.5, 0...1)
        ],
        fidelity: .exact,
        source:
            "x ≥ threshold per linear channel: with ½ the step is between codes 187 and 188, as Core Image's.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CIColorThreshold(filter) })

    private let threshold: Float

    init(_ filter: Filter) { threshold = Float(filter.number("inputThreshold")) }

    func apply(to pixels: PixelChunk) {
        for plane in pixels.colours {
            for i in 0..<pixels.count { plane[i] = plane[i] >= threshold ? 1 : 0 }
        }
    }
}
