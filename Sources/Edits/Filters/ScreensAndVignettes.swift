import Edits
import Glibc

/// A screen: luminance compared with a pattern of thresholds.
///
///     out = clamp(½ + (Y − T) / (1 − sharpness))
///
/// T is the pattern's threshold at the pixel, 0 to 1.
struct Screen: PixelFilter {
    /// A position in the pattern's own coordinates: along its angle, and 90° counter-clockwise from it, in widths from the centre.
    struct Position {
        let along, across: Double

        var distance: Double { (along * along + across * across).squareRoot() }
    }

    typealias Threshold = @Sendable (Position) -> Double

    private let x, y, cosine, sine: Double
    private let softness: Float
    private let threshold: Threshold
    var usesPosition: Bool { true }

    private static let center = ParameterDefinition.point(
        "inputCenter", "Where the pattern begins.", default: [150, 150])
    private static let angle = ParameterDefinition.number(
        "inputAngle", "The pattern's direction.", default: 0, -2 * .pi...2 * .pi, .radians)
    // Core Image documents no maximum; ours is the maximum of coordinates.
    private static let width = ParameterDefinition.number(
        "inputWidth", "Distance of the pattern's repeats.", default: 6, 1...1e7, .pixels)
    private static let sharpness = ParameterDefinition.number(
        "inputSharpness", "0 is soft, 1 leaves black and white only.", default: 0.7, 0...1)

    static func definition(
        _ name: String, _ summary: String, rms: Double, _ source: String, hasAngle: Bool = true,
        _ threshold: @escaping Threshold
    ) -> FilterDefinition {
        FilterDefinition(
            name: name, summary: summary, category: .stylise,
            parameters: [center] + (hasAngle ? [angle] : []) + [width, sharpness],
            fidelity: .measured(rms: rms), source: source, gain: .dropped,
            kernel: .pixel { filter, _ in
                Screen(
                    filter, angle: hasAngle ? filter.number("inputAngle") : 0, threshold)
            })
    }

    private init(_ filter: Filter, angle: Double, _ threshold: @escaping Threshold) {
        let centre = filter.vector("inputCenter")
        (x, y) = (centre[0], centre[1])
        let width = filter.number("inputWidth")
        (cosine, sine) = (cos(angle) / width, sin(angle) / width)
        // For sharpness 1, a softness below a step of any photo avoids a division by zero.
        softness = Float(1 / max(1 - filter.number("inputSharpness"), 1e-6))
        self.threshold = threshold
    }

    func apply(to pixels: PixelChunk) {
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
    fileprivate static func triangle(_ position: Double) -> Double {
        1 - abs(1 - 2 * (position - position.rounded(.down)))
    }
}

/// CICircularScreen: rings that are thicker where the photo is darker.
enum CICircularScreen {
    static let definition = Screen.definition(
        "CICircularScreen", "Draws the photo in rings.", rms: 0.06,
        "Rings round the centre, by luminance in linear light.", hasAngle: false
    ) { Screen.triangle($0.distance) }
}

/// CILineScreen: lines that are thicker where the photo is darker.
enum CILineScreen {
    static let definition = Screen.definition(
        "CILineScreen", "Draws the photo in parallel lines.", rms: 0.07,
        "Lines across the angle, by luminance in linear light; no code is off by more than 1."
    ) { Screen.triangle($0.along) }
}

/// CIHatchedScreen: lines, and lines across them where the photo is dark.
enum CIHatchedScreen {
    static let definition = Screen.definition(
        "CIHatchedScreen", "Draws the photo in crossed lines.", rms: 0.07,
        "Lines for middle tones and lines across them for dark ones; all 36 phases of Core Image's pattern agree to 4 digits."
    ) { min(Screen.triangle($0.along), (1 + Screen.triangle($0.across)) / 2) }
}

/// CIDotScreen: dots that are larger where the photo is darker.
enum CIDotScreen {
    static let definition = Screen.definition(
        "CIDotScreen", "Draws the photo in dots.", rms: 0.06,
        "½ + 0.17375 (sin 2πu + sin 2πv); all 36 phases of Core Image's pattern agree to 4 digits."
    ) { 0.5 + 0.17375 * (sin(2 * .pi * $0.along) + sin(2 * .pi * $0.across)) }
}

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

/// CIDither, a look-alike: adds noise against banding.
///
/// The noise is the difference of two uniform ones (triangular, mean 0), the standard dither for rounding. At the default intensity
/// it reaches one 8-bit step to each side, in encoded values. It depends only on the pixel's position and channel, so that a render
/// is reproducible to the bit.
struct CIDither: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIDither",
        summary: "Adds fine noise, against steps in smooth gradients.",
        category: .stylise,
        parameters: [
            .number(
                "inputIntensity", "0.1 reaches one step of 8 bits to each side.", default: 0.1,
                0...5, identity: 0)
        ],
        fidelity: .lookAlike,
        source:
            "Apple's noise is unpublished. Ours is triangular, on encoded values, and the same in each render.",
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIDither(filter) })

    private let amplitude: Float
    var usesPosition: Bool { true }

    init(_ filter: Filter) {
        amplitude = Float(filter.number("inputIntensity") / 0.1 / 255)
    }

    func apply(to pixels: PixelChunk) {
        guard amplitude > 0 else { return }
        pixels.encode()
        let row = UInt64(bitPattern: Int64(pixels.y.rounded(.down)))
        for (channel, plane) in pixels.colours.enumerated() {
            for i in 0..<pixels.count {
                let column = UInt64(bitPattern: Int64(pixels.x.rounded(.down)) + Int64(i))
                let bits = Self.hash(row << 34 ^ column << 2 ^ UInt64(channel))
                let (a, b) = (bits >> 40, bits >> 8 & 0xFF_FFFF)
                plane[i] += amplitude * (Float(a) - Float(b)) / 0x100_0000
            }
        }
        pixels.decode()
    }

    /// The finaliser of SplitMix64 (G. Steele and others, 2014): each bit depends on all.
    private static func hash(_ number: UInt64) -> UInt64 {
        var z = number &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
