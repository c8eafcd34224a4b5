import Edits
import Glibc

/// CIVignette, a look-alike: darkens the photo towards its corners.
///
///     G(r) = e^−(2.67 r² + 1.79 r⁴)     out = x · G^(intensity/2 · (1 − e^−radius))
///
/// r is the distance from the photo's centre, 1 in its corners. For intensity 2 and radius 10 this follows Core Image's pixels
/// within 2 codes; their dependence on both parameters is unknown. Below 0 it brightens by as much as it would darken.
struct CIVignette: RadialGain {
    static let definition = FilterDefinition(
        name: "CIVignette",
        summary: "Darkens the photo towards its corners.",
        category: .stylise,
        parameters: [
            // Core Image's attributes document −1 to 1 and 0 to 2, but it accepts larger numbers, and published examples use them.
            .number(
                "inputIntensity", "How dark the corners become; below 0 brightens.", default: 0,
                -2...2, identity: 0),
            .number(
                "inputRadius", "How far the darkening comes in from the corners.", default: 1,
                0...50),
        ],
        fidelity: .lookAlike,
        source: """
            The profile is Core Image's for intensity 2 and radius 10; how it changes with them is ours.
            """,
        gain: .depends { $0.number("inputIntensity") < 0 ? .recomputed : .carried },
        light: .unlimited,
        kernel: .pixel { filter, context in CIVignette(filter, context.size) })

    let centre: (x: Double, y: Double)
    /// Half of the photo's diagonal.
    let reach: Double
    let gains: RadialTable
    private let strength: Double

    init(_ filter: Filter, _ size: PixelSize) {
        centre = (Double(size.width) / 2, Double(size.height) / 2)
        reach = (centre.x * centre.x + centre.y * centre.y).squareRoot()
        let strength =
            filter.number("inputIntensity") / 2 * (1 - exp(-filter.number("inputRadius")))
        let reach = reach
        gains = RadialTable(over: 0...reach) { Self.gain($0 / reach, strength) }
        self.strength = strength
    }

    func gain(at distance: Double) -> Double { Self.gain(distance / reach, strength) }

    private static func gain(_ distance: Double, _ strength: Double) -> Double {
        let square = distance * distance
        let dark = exp(-abs(strength) * square * (2.67 + 1.79 * square))
        return strength < 0 ? 2 - dark : dark
    }
}
