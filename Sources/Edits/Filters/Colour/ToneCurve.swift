import Glibc

/// The relation between encoded values 0 to 1 and light 0 to 1.
public enum ToneCurve: Sendable, Equatable {
    /// `(a v + b)^g + e` from `d` on, `c v + f` below: ICC.1 §10.18, function type 4, of which the other types are special cases.
    case parametric(g: Double, a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)
    /// Equally spaced, rising light values, the first for 0 and the last for 1; at least two.
    case samples([Double])

    /// IEC 61966-2-1.
    public static let sRGB = parametric(
        g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045, e: 0, f: 0)

    /// A pure power.
    public static func gamma(_ exponent: Double) -> ToneCurve {
        .parametric(g: exponent, a: 1, b: 0, c: 0, d: 0, e: 0, f: 0)
    }

    /// Returns the light of an encoded value from 0 to 1.
    public func linear(_ encoded: Double) -> Double {
        switch self {
        case .parametric(let g, let a, let b, let c, let d, let e, let f):
            return encoded >= d ? pow(max(0, a * encoded + b), g) + e : c * encoded + f
        case .samples(let values):
            let position = min(max(encoded, 0), 1) * Double(values.count - 1)
            let entry = min(Int(position), values.count - 2)
            return values[entry] + (values[entry + 1] - values[entry]) * (position - Double(entry))
        }
    }

    /// Returns the encoded value of an amount of light, clamped to 0 to 1.
    public func encoded(_ light: Double) -> Double {
        let light = min(max(light, 0), 1)
        switch self {
        case .parametric(let g, let a, let b, let c, let d, let e, let f):
            let value =
                light >= linear(d) || c == 0
                ? (pow(max(0, light - e), 1 / g) - b) / a : (light - f) / c
            return min(max(value, 0), 1)
        case .samples(let values):
            var low = 0
            var high = values.count - 1
            while high - low > 1 {
                let middle = (low + high) / 2
                if values[middle] <= light { low = middle } else { high = middle }
            }
            let step = values[high] - values[low]
            let part = step > 0 ? (light - values[low]) / step : 0
            return (Double(low) + min(max(part, 0), 1)) / Double(values.count - 1)
        }
    }

    /// Whether the curve rises strictly, so that it can be inverted.
    public var isRising: Bool {
        let steps = 256
        var last = linear(0)
        for step in 1...steps {
            let next = linear(Double(step) / Double(steps))
            guard next.isFinite, next >= last else { return false }
            last = next
        }
        return abs(linear(0)) < 0.02 && abs(last - 1) < 0.02
    }
}
