import Edits
import Glibc

/// CIDotScreen: dots that are larger where the photo is darker.
struct CIDotScreen: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIDotScreen",
        summary: "Draws the photo in dots.",
        category: .stylise,
        parameters: [Screen.center, Screen.angle, Screen.width, Screen.sharpness],
        fidelity: .measured(rms: 0.06),
        source:
            "½ + 0.17375 (sin 2πu + sin 2πv); all 36 phases of Core Image's pattern agree to 4 digits.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CIDotScreen(filter) })

    private let screen: Screen
    var usesPosition: Bool { true }

    init(_ filter: Filter) { screen = Screen(filter, angle: filter.number("inputAngle")) }

    func apply(to pixels: PixelChunk) {
        screen.apply(to: pixels) { position in
            0.5 + 0.17375 * (sin(2 * .pi * position.along) + sin(2 * .pi * position.across))
        }
    }
}
