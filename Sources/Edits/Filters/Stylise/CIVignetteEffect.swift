import Edits

/// CIVignetteEffect: darkens the surroundings of a place.
///
///     u = clamp(½ + (r / radius − 1) / (4 · falloff))     t = 6u⁵ − 15u⁴ + 10u³
///     out = x · decode(1 − intensity · t)
///
/// r is the distance from the centre. Half of the darkening is reached at the radius; for falloff ½, u is r / (2 · radius).
struct CIVignetteEffect: RadialGain {
    static let definition = FilterDefinition(
        name: "CIVignetteEffect",
        summary: "Darkens the photo away from a place.",
        category: .stylise,
        parameters: [
            .point("inputCenter", "The place that stays as it is.", default: [150, 150]),
            // Core Image documents no maximum; ours is the maximum of coordinates.
            .number(
                "inputRadius", "Where half of the darkening is reached.", default: 150, 0...1e7,
                .pixels),
            .number(
                "inputIntensity", "How dark it becomes; below 0 brightens.", default: 1, -1...1,
                identity: 0),
            .number(
                "inputFalloff", "How wide the ramp is: 0 is an edge.", default: 0.5, 0...1),
        ],
        fidelity: .measured(rms: 0.09),
        source: """
            Core Image's profile for falloff 0.5, followed to 0.001 at 18 radii. That falloff scales the ramp's width \
            is ours.
            """,
        gain: .depends { $0.number("inputIntensity") < 0 ? .recomputed : .carried },
        light: .unlimited,
        kernel: .pixel { filter, _ in CIVignetteEffect(filter) })

    let centre: (x: Double, y: Double)
    let gains: RadialTable
    let reach: Double
    private let profile: Profile

    init(_ filter: Filter) {
        let point = filter.vector("inputCenter")
        centre = (point[0], point[1])
        profile = Profile(
            // A tiny radius instead of 0: the edge is then within a pixel, and 0 / 0 is avoided.
            radius: max(filter.number("inputRadius"), 1e-3),
            intensity: filter.number("inputIntensity"),
            falloff: max(filter.number("inputFalloff"), 1e-6))
        reach = profile.ramp.upperBound
        gains = RadialTable(over: profile.ramp, profile.gain)
    }

    func gain(at distance: Double) -> Double { profile.gain(at: distance) }

    private struct Profile {
        let radius, intensity, falloff: Double

        /// The distances between which the gain changes.
        var ramp: ClosedRange<Double> {
            max(0, radius * (1 - 2 * falloff))...radius * (1 + 2 * falloff)
        }

        func gain(at distance: Double) -> Double {
            let u = min(max(0.5 + (distance / radius - 1) / (4 * falloff), 0), 1)
            let t = u * u * u * (10 + u * (6 * u - 15))
            return ToneCurve.sRGB.linear(1 - intensity * t)
        }
    }
}
