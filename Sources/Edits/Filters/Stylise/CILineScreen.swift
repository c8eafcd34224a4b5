import Edits

/// CILineScreen: lines that are thicker where the photo is darker.
struct CILineScreen: PixelFilter {
    static let definition = FilterDefinition(
        name: "CILineScreen",
        summary: "Draws the photo in parallel lines.",
        category: .stylise,
        parameters: [Screen.center, Screen.angle, Screen.width, Screen.sharpness],
        fidelity: .measured(rms: 0.07),
        source:
            "Lines across the angle, by luminance in linear light; no code is off by more than 1.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CILineScreen(filter) })

    private let screen: Screen
    var usesPosition: Bool { true }

    init(_ filter: Filter) { screen = Screen(filter, angle: filter.number("inputAngle")) }

    func apply(to pixels: PixelChunk) {
        screen.apply(to: pixels) { position in
            Screen.triangle(position.along)
        }
    }
}
