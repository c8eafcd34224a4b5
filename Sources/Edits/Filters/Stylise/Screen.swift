import Edits
import Glibc

/// The common part of the screens: luminance compared with a pattern of thresholds.
///
///     out = clamp(½ + (Y − T) / (1 − sharpness))
///
/// T is the pattern's threshold at the pixel, 0 to 1.
struct Screen: Sendable {
    /// A position in the pattern's own coordinates: along its angle, and 90° counter-clockwise from it, in widths from the centre.
    struct Position {
        let along, across: Double

        var distance: Double { (along * along + across * across).squareRoot() }
    }

    private let x, y, cosine, sine: Double
    private let softness: Float

    static let center = ParameterDefinition.point(
        "inputCenter", "Where the pattern begins.", default: [150, 150])
    static let angle = ParameterDefinition.number(
        "inputAngle", "The pattern's direction.", default: 0, -2 * .pi...2 * .pi, .radians)
    // Core Image documents no maximum; ours is the maximum of coordinates.
    static let width = ParameterDefinition.number(
        "inputWidth", "Distance of the pattern's repeats.", default: 6, 1...1e7, .pixels)
    static let sharpness = ParameterDefinition.number(
        "inputSharpness", "0 is soft, 1 leaves black and white only.", default: 0.7, 0...1)

    /// - Parameter angle: 0 for a pattern without a direction.
    init(_ filter: Filter, angle: Double) {
        let centre = filter.vector("inputCenter")
        (x, y) = (centre[0], centre[1])
        let width = filter.number("inputWidth")
        (cosine, sine) = (cos(angle) / width, sin(angle) / width)
        // For sharpness 1, a softness below a step of any photo avoids a division by zero.
        softness = Float(1 / max(1 - filter.number("inputSharpness"), 1e-6))
    }

    /// Makes the chunk grey, by the thresholds of a pattern.
    func apply(to pixels: PixelChunk, threshold: (Position) -> Double) {
        let dy = pixels.y - y
        for i in 0..<pixels.count {
            let dx = pixels.x + Double(i) - x
            let position = Position(
                along: dx * cosine + dy * sine, across: dy * cosine - dx * sine)
            let light = Luminance.of(pixels.red[i], pixels.green[i], pixels.blue[i])
            let level = 0.5 + (light - Float(threshold(position))) * softness
            pixels.red[i] = min(max(level, 0), 1)
        }
        pixels.makeGrey()
    }

    /// Rises from 0 to 1 and falls back within each whole step.
    static func triangle(_ position: Double) -> Double {
        1 - abs(1 - 2 * (position - position.rounded(.down)))
    }
}
