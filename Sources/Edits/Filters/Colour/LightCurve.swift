import Edits
import Glibc

/// A function of one number as a table with linear interpolation.
///
/// Entries lie on a ``LogScale`` of 128 per octave from 2⁻²⁶ to 2⁷, so that the relative error of a power is at most 10⁻⁶: less
/// than a 16-bit code. The table's 34 KB fit into the second-level cache with the pixels.
public final class LightCurve: Sendable {
    static let scale = LogScale(stepBits: 7, octavesBelowOne: 26, octavesAboveOne: 7)

    /// By entry: the value at its lower end, and the increase to its upper end.
    @usableFromInline let table: Table<Float>
    @usableFromInline let scale = LightCurve.scale

    /// Tabulates a function for numbers above 0.
    public init(_ function: (Double) -> Double) {
        table = Table(count: 2 * Self.scale.count) { index in
            let (entry, isGain) = index.quotientAndRemainder(dividingBy: 2)
            let low = function(Self.scale.lowerEnd(of: entry))
            return Float(isGain == 0 ? low : function(Self.scale.lowerEnd(of: entry + 1)) - low)
        }
    }

    /// Replaces each number of a plane by the function's value. Numbers below 2⁻²⁶, including negative ones, count as 2⁻²⁶, and
    /// numbers above 2⁷ as 2⁷.
    public func apply(to plane: UnsafeMutablePointer<Float>, count: Int) {
        let pairs = table.values
        TablePositions.inBlocks(plane, count) { positions, plane, count in
            scale.fill(positions, for: plane, count: count)
            positions.lookUp(pairs, into: plane, count: count)
        }
    }

    /// Applies an odd function: the value for a negative number is the negated value for its magnitude.
    public func applySigned(to plane: UnsafeMutablePointer<Float>, count: Int) {
        let pairs = table.values
        TablePositions.inBlocks(plane, count) { positions, plane, count in
            scale.fill(positions, forAmounts: plane, count: count)
            let values = positions.parts
            positions.lookUp(pairs, into: values, count: count)
            for i in 0..<count {
                let number = plane[i]
                // Restores the number's sign without a branch.
                let signed = values[i].bitPattern ^ number.bitPattern & 0x8000_0000
                plane[i] = number == 0 ? 0 : Float(bitPattern: signed)
            }
        }
    }

    /// Linear light to sRGB-encoded values, also beyond 0 to 1: apply it signed.
    public static let encoding = LightCurve(signedEncoding)

    /// sRGB-encoded values to linear light, also beyond 0 to 1: apply it signed.
    public static let decoding = LightCurve(signedDecoding)

    /// The function that ``encoding`` tabulates: IEC 61966-2-1, odd.
    @Sendable static func signedEncoding(_ light: Double) -> Double {
        let amount = abs(light)
        let value = amount <= 0.0031308 ? 12.92 * amount : 1.055 * pow(amount, 1 / 2.4) - 0.055
        return light < 0 ? -value : value
    }

    /// The function that ``decoding`` tabulates.
    @Sendable static func signedDecoding(_ value: Double) -> Double {
        let amount = abs(value)
        let light = amount <= 0.04045 ? amount / 12.92 : pow((amount + 0.055) / 1.055, 2.4)
        return value < 0 ? -light : light
    }
}

/// A function from light to light, the same for red, green and blue, as one table for light and one for its negative.
///
/// A curve of encoded values needs nine lookups per colour, this one three.
struct CurvePixels: PixelFilter {
    /// The highest error of the tables, encoded: half a 16-bit code.
    static let errorMax = 0.5 / 65_535

    /// As ``LightCurve/table``: the pieces for light, then those for its negative.
    private let table: Table<Float>
    private static let scale = LightCurve.scale

    /// Nil if the function has corners at which the tables would exceed ``errorMax``.
    init?(_ function: (Double) -> Double) {
        let most = PixelForm.lightMax
        func up(_ light: Double) -> Double { min(max(function(light), -most), most) }
        func down(_ light: Double) -> Double { up(-light) }
        let (above, below) = (LightCurve(up), LightCurve(down))
        guard above.follows(up), below.follows(down) else { return nil }
        let half = 2 * Self.scale.count
        table = Table(count: 2 * half) { entry in
            entry < half ? above.table.values[entry] : below.table.values[entry - half]
        }
    }

    func apply(to pixels: PixelChunk) {
        let (pairs, scale, count) = (table.values, Self.scale, pixels.count)
        TablePositions.with { positions in
            for plane in pixels.colours {
                scale.fill(
                    positions, forAmounts: plane, count: count, negatives: Int32(scale.count))
                positions.lookUp(pairs, into: plane, count: count)
            }
        }
    }
}

extension LightCurve {
    /// Whether its lines approximate a function within ``CurvePixels/errorMax`` in the middle of each piece and beside it.
    fileprivate func follows(_ function: (Double) -> Double) -> Bool {
        (0..<scale.count).allSatisfy { entry in
            let (low, high) = (scale.lowerEnd(of: entry), scale.lowerEnd(of: entry + 1))
            let (first, gain) = (
                Double(table.values[2 * entry]), Double(table.values[2 * entry + 1])
            )
            return [0.25, 0.5, 0.75].allSatisfy { part in
                let wanted = function(low + (high - low) * part)
                let miss = abs(first + gain * part - wanted)
                // The encoding's slope is 12.92 in the shadows, and below 1 only for light that codes cannot express.
                guard miss * Self.slopeMax > CurvePixels.errorMax else { return true }
                return miss * Self.slope(at: abs(wanted)) <= CurvePixels.errorMax
                    * max(1, abs(wanted))
            }
        }
    }

    private static let slopeMax = 12.92

    /// Returns the derivative of encoded values with respect to light.
    private static func slope(at light: Double) -> Double {
        light <= 0.0031308 ? slopeMax : 1.055 / 2.4 * pow(light, 1 / 2.4 - 1)
    }
}

/// A function of one number as equally spaced samples with linear interpolation.
///
/// Beyond its domain, it is extrapolated linearly from the first or last two samples.
struct SampledCurve: Sendable {
    private let table: Table<Float>
    private let low, scale: Float

    /// Tabulates `count` samples of a function over its domain.
    init(from low: Double, to high: Double, count: Int, _ function: (Double) -> Double) {
        let step = (high - low) / Double(count - 1)
        self.init(
            from: low, to: high, samples: (0..<count).map { function(low + step * Double($0)) })
    }

    /// Requires at least two samples.
    init(from low: Double, to high: Double, samples: [Double]) {
        table = Table(count: samples.count) { Float(samples[$0]) }
        self.low = Float(low)
        scale = Float(Double(samples.count - 1) / (high - low))
    }

    /// Replaces each number of a plane by the function's value.
    func apply(to plane: UnsafeMutablePointer<Float>, count: Int) {
        let (ends, low, scale) = (table.values, low, scale)
        let last = Float(table.count - 2)
        TablePositions.inBlocks(plane, count) { positions, plane, count in
            for i in 0..<count {
                let position = (plane[i] - low) * scale
                // A number outside of the domain uses the outermost piece.
                let above = position > 0 ? position : 0
                let entry = positions.setEntry(i, above < last ? above : last)
                positions.parts[i] = position - entry
            }
            positions.lookUp(ends: ends, into: plane, count: count)
        }
    }
}

/// The natural cubic spline through some points: twice continuously differentiable, with zero curvature at its ends, and extended
/// linearly beyond them.
struct NaturalSpline: Sendable {
    private let x, y: [Double]
    private let bend: [Double]

    /// Creates the spline; `x` must rise strictly, and there must be at least two points.
    init(x: [Double], y: [Double]) {
        precondition(x.count == y.count && x.count >= 2, "a spline needs two points")
        (self.x, self.y) = (x, y)
        let last = x.count - 1
        // The second derivatives solve a tridiagonal system; those at the ends are 0.
        var bend = Array(repeating: 0.0, count: x.count)
        var upper = bend
        for i in 1..<max(1, last) {
            let (before, after) = (x[i] - x[i - 1], x[i + 1] - x[i])
            let slopes = (y[i + 1] - y[i]) / after - (y[i] - y[i - 1]) / before
            let pivot = 2 * (before + after) - before * upper[i - 1]
            upper[i] = after / pivot
            bend[i] = (6 * slopes - before * bend[i - 1]) / pivot
        }
        for i in stride(from: last - 1, to: 0, by: -1) { bend[i] -= upper[i] * bend[i + 1] }
        self.bend = bend
    }

    func value(at position: Double) -> Double {
        let last = x.count - 1
        if position <= x[0] { return y[0] + slope(at: 0, leftOf: 1) * (position - x[0]) }
        if position >= x[last] {
            return y[last] + slope(at: last, leftOf: last) * (position - x[last])
        }
        var i = 1
        while x[i] < position { i += 1 }
        let width = x[i] - x[i - 1]
        let (a, b) = ((x[i] - position) / width, (position - x[i - 1]) / width)
        let curved = (a * a * a - a) * bend[i - 1] + (b * b * b - b) * bend[i]
        return a * y[i - 1] + b * y[i] + curved * width * width / 6
    }

    /// Returns the slope at one end of the piece that ends at point `piece`.
    private func slope(at point: Int, leftOf piece: Int) -> Double {
        let width = x[piece] - x[piece - 1]
        let straight = (y[piece] - y[piece - 1]) / width
        return point < piece
            ? straight - width * (2 * bend[piece - 1] + bend[piece]) / 6
            : straight + width * (bend[piece - 1] + 2 * bend[piece]) / 6
    }
}

/// The relation between encoded values 0 to 1 and light 0 to 1.
public enum ToneCurve: Sendable, Equatable {
    /// `(a v + b)^g + e` from `d` on, `c v + f` below: ICC.1 §10.18, function type 4, of which the other types are special cases.
    case parametric(g: Double, a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)
    /// Equally spaced, rising light values, the first for 0 and the last for 1; at least two.
    case samples([Double])

    /// IEC 61966-2-1.
    public static let sRGB = parametric(
        g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045, e: 0, f: 0)

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
