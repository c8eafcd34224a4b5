import Filters
import Glibc

/// The conversion between encoded values of red, green and blue in a movie and light.
///
/// Unlike a photo's ``ToneCurve``, it continues beyond white and, as an odd function, below black: codes of the limited range can
/// express such colours, and they are preserved. Light 1 is white; in HDR it is reference white.
enum TransferFunction: Sendable, Equatable {
    /// A pure power: light is the value raised to this power.
    case gamma(Double)
    /// IEC 61966-2-1.
    case sRGB
    /// Values are linear light.
    case linear
    /// Hybrid log-gamma (ITU-R BT.2100 table 5), scene light: without the OOTF of a display, so that it is invertible.
    case hlg
    /// Perceptual quantiser (ITU-R BT.2100 table 4).
    case pq

    /// The function for a number of ITU-T H.273 table 3; nil for an unsupported one.
    ///
    /// BT.709's camera curve and its equals are a power of 1.961 in both directions, the value that Apple's colour spaces use for
    /// them (a developer's answer in Apple's forum, thread 113337; not yet compared with Core Image's pixels).
    init?(h273 number: Int) {
        switch number {
        case 1, 6, 14, 15: self = .gamma(1.961)
        case 4: self = .gamma(2.2)
        case 5: self = .gamma(2.8)
        case 8: self = .linear
        case 13: self = .sRGB
        case 16: self = .pq
        case 18: self = .hlg
        default: return nil
        }
    }

    /// Whether light above white is meant to be visible.
    var isHDR: Bool { self == .hlg || self == .pq }

    /// The highest light: the limit of a filter's tables.
    private static let lightMax = 128.0

    /// Returns the light of an encoded value.
    func linear(_ encoded: Double) -> Double {
        let amount = abs(encoded)
        let light =
            switch self {
            case .gamma(let power): pow(amount, power)
            case .sRGB: ToneCurve.sRGB.linear(amount)
            case .linear: amount
            case .hlg: HLG.linear(amount) / HLG.white
            case .pq: PQ.linear(amount) / PQ.white
            }
        return copysign(min(light, Self.lightMax), encoded)
    }

    /// Returns the encoded value of an amount of light.
    func encoded(_ light: Double) -> Double {
        let amount = abs(light)
        let value =
            switch self {
            case .gamma(let power): pow(amount, 1 / power)
            case .sRGB:
                amount <= 1 ? ToneCurve.sRGB.encoded(amount) : 1.055 * pow(amount, 1 / 2.4) - 0.055
            case .linear: amount
            case .hlg: HLG.encoded(amount * HLG.white)
            case .pq: PQ.encoded(amount * PQ.white)
            }
        return copysign(value, light)
    }
}

/// ITU-R BT.2100 table 5: scene light from 0 to 1.
private enum HLG {
    private static let a = 0.17883277
    private static let b = 1 - 4 * a
    private static let c = 0.5 - a * log(4 * a)
    /// Reference white is a signal of 75 % (ITU-R BT.2408 §2.1).
    static let white = linear(0.75)

    static func linear(_ value: Double) -> Double {
        value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }

    static func encoded(_ light: Double) -> Double {
        light <= 1.0 / 12 ? (3 * light).squareRoot() : a * log(12 * light - b) + c
    }
}

/// ITU-R BT.2100 table 4: luminance in cd/m².
private enum PQ {
    private static let m1 = 2610.0 / 16_384
    private static let m2 = 2523.0 / 4096 * 128
    private static let c1 = 3424.0 / 4096
    private static let c2 = 2413.0 / 4096 * 32
    private static let c3 = 2392.0 / 4096 * 32
    /// Reference white (ITU-R BT.2408 §2.1).
    static let white = 203.0

    static func linear(_ value: Double) -> Double {
        let power = pow(value, 1 / m2)
        let rest = c2 - c3 * power
        guard rest > 0 else { return .infinity }
        return 10_000 * pow(max(power - c1, 0) / rest, 1 / m1)
    }

    static func encoded(_ light: Double) -> Double {
        let power = pow(light / 10_000, m1)
        // By the formula, 0 has a code slightly above 0; here black is 0.
        return light == 0 ? 0 : pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }
}
