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
