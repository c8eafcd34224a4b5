import Edits

/// CIColorPosterize: rounds each linear channel to a number of levels.
///
///     out = ⌊x · (n − 1) + ½⌋ / (n − 1)
struct CIColorPosterize: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorPosterize",
        summary: "Leaves each channel a few levels of light.",
        category: .tone,
        parameters: [
            // Core Image's minimum is 1, for which its formula divides by zero; its slider is 2 to 30.
            .number("inputLevels", "Levels of a channel.", default: 6, 2...256, .count)
        ],
        fidelity: .exact,
        source:
            "⌊x · (n − 1) + ½⌋ / (n − 1) on linear light: not one pixel differs from Core Image's.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CIColorPosterize(filter) })

    private let steps: Float

    init(_ filter: Filter) { steps = Float(filter.number("inputLevels") - 1) }

    func apply(to pixels: PixelChunk) {
        for plane in pixels.colours {
            for i in 0..<pixels.count {
                plane[i] = (plane[i] * steps + 0.5).rounded(.down) / steps
            }
        }
    }
}
