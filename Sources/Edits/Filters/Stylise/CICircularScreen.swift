import Edits

/// CICircularScreen: rings that are thicker where the photo is darker.
struct CICircularScreen: PixelFilter {
    static let definition = FilterDefinition(
        name: "CICircularScreen",
        summary: "Draws the photo in rings.",
        category: .stylise,
        parameters: [Screen.center, Screen.width, Screen.sharpness],
        fidelity: .measured(rms: 0.06),
        source: "Rings round the centre, by luminance in linear light.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CICircularScreen(filter) })

    private let screen: Screen
    var usesPosition: Bool { true }

    init(_ filter: Filter) { screen = Screen(filter, angle: 0) }

    func apply(to pixels: PixelChunk) {
        screen.apply(to: pixels) { position in
            Screen.triangle(position.distance)
        }
    }
}
