import Edits

/// The positions of some numbers in a table with linear interpolation: the piece of each, and the fraction within the piece.
///
/// Positions are computed by one loop, which the compiler vectorizes, and looked up by another, four at a time: 0.46 ns a number on
/// SSE2, whereas a single loop took 1.2.
package struct TablePositions {
    /// The most numbers.
    package static let capacity = PixelChunk.capacity

    /// By number: its piece.
    package let entries: UnsafeMutablePointer<Int32>
    /// By number: its fraction within the piece, 0 to 1; other values are outside of the table.
    package let parts: UnsafeMutablePointer<Float>

    /// Allocates memory for ``capacity`` positions, for the duration of a call.
    @inline(__always)
    package static func with(_ body: (TablePositions) -> Void) {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: capacity) { entries in
            withUnsafeTemporaryAllocation(of: Float.self, capacity: capacity) { parts in
                guard let entries = entries.baseAddress, let parts = parts.baseAddress else {
                    return
                }
                body(TablePositions(entries: entries, parts: parts))
            }
        }
    }

    /// Processes any number of positions, ``capacity`` at a time.
    @inline(__always)
    static func inBlocks(
        _ numbers: UnsafeMutablePointer<Float>, _ count: Int,
        _ body: (_ positions: TablePositions, _ numbers: UnsafeMutablePointer<Float>, _ count: Int)
            ->
            Void
    ) {
        with { positions in
            var first = 0
            while first < count {
                body(positions, numbers + first, min(capacity, count - first))
                first += capacity
            }
        }
    }

    /// Sets the entry of a number in units of pieces, 0 to 2²².
    ///
    /// It adds 2²³, beyond which a Float has no fractions: rounding down would be a call, and a conversion that checks its range
    /// would prevent vectorization.
    ///
    /// - Returns: the floor of the number.
    @inline(__always)
    func setEntry(_ i: Int, _ number: Float) -> Float {
        let nearest = (number + Self.whole) - Self.whole
        let below = nearest > number ? nearest - 1 : nearest
        entries[i] = Int32(bitPattern: (below + Self.whole).bitPattern & 0x7F_FFFF)
        return below
    }

    private static let whole: Float = 8_388_608

    /// Looks up lines stored in pairs: the value at each piece's lower end, and the increase to its upper end.
    ///
    /// - Parameter values: may be ``parts``.
    @inline(__always)
    func lookUp(
        _ pairs: UnsafePointer<Float>, into values: UnsafeMutablePointer<Float>, count: Int
    ) {
        var i = 0
        while i &+ 4 <= count {
            let (low, gain) = four(pairs, at: i, apart: 2)
            values.setQuartet(i, low + gain * parts.quartet(i))
            i &+= 4
        }
        while i < count {
            let entry = 2 &* Int(entries[i])
            values[i] = pairs[entry] + pairs[entry &+ 1] * parts[i]
            i &+= 1
        }
    }

    /// Looks up lines between consecutive numbers.
    ///
    /// - Parameters:
    /// |   - ends: one more than there are pieces.
    ///   - values: may be ``parts``.
    @inline(__always)
    package func lookUp(
        ends: UnsafePointer<Float>, into values: UnsafeMutablePointer<Float>, count: Int
    ) {
        var i = 0
        while i &+ 4 <= count {
            let (low, high) = four(ends, at: i, apart: 1)
            values.setQuartet(i, low + (high - low) * parts.quartet(i))
            i &+= 4
        }
        while i < count {
            let entry = Int(entries[i])
            let low = ends[entry]
            values[i] = low + (ends[entry &+ 1] - low) * parts[i]
            i &+= 1
        }
    }

    /// Returns the numbers at four entries, and their successors.
    @inline(__always)
    private func four(_ table: UnsafePointer<Float>, at i: Int, apart: Int) -> (Quartet, Quartet) {
        func pair(_ offset: Int) -> SIMD2<Float> {
            UnsafeRawPointer(table + apart &* Int(entries[i &+ offset]))
                .loadUnaligned(as: SIMD2<Float>.self)
        }
        let a = Quartet(lowHalf: pair(0), highHalf: pair(1))
        let b = Quartet(lowHalf: pair(2), highHalf: pair(3))
        return (Quartet(a[0], a[2], b[0], b[2]), Quartet(a[1], a[3], b[1], b[3]))
    }
}

extension LogScale {
    @inline(__always)
    package func fill(
        _ positions: TablePositions, for numbers: UnsafePointer<Float>, count: Int
    ) {
        for i in 0..<count {
            let (entry, part) = position(numbers[i])
            positions.entries[i] = entry
            positions.parts[i] = part
        }
    }

    /// Computes the positions of the magnitudes of some numbers.
    ///
    /// - Parameter negatives: the offset of the entries for negative numbers.
    @inline(__always)
    func fill(
        _ positions: TablePositions, forAmounts numbers: UnsafePointer<Float>, count: Int,
        negatives: Int32 = 0
    ) {
        for i in 0..<count {
            let (entry, part) = position(numbers[i].magnitude)
            positions.entries[i] =
                entry &+ Int32(bitPattern: numbers[i].bitPattern) &>> 31 & negatives
            positions.parts[i] = part
        }
    }
}

/// Converts a positive number to a table index by the bits of its floating-point form.
///
/// Exponent and leading mantissa bits of a Float approximate a logarithm: each octave has the same number of steps, so that the
/// relative error of a table is uniform, which suits the eye. The conversion takes a subtraction and a shift, which the compiler
/// vectorises; an index by √x would cost three square roots per pixel.
public struct LogScale: Sendable {
    /// Mantissa bits that are used: 2^stepBits entries per octave.
    public let stepBits: Int32
    /// Smaller numbers, and negative ones, use the first entry.
    public let lowest: Float
    /// Larger numbers use the last entry. This is the greatest Float below 2^octavesAboveOne.
    public let highest: Float
    public let count: Int

    @usableFromInline let firstBits: UInt32
    @usableFromInline let shift: UInt32
    @usableFromInline let partScale: Float

    public init(stepBits: Int32, octavesBelowOne: Int32, octavesAboveOne: Int32) {
        self.stepBits = stepBits
        firstBits = UInt32(127 - octavesBelowOne) << 23
        lowest = Float(bitPattern: firstBits)
        highest = Float(bitPattern: (UInt32(127 + octavesAboveOne) << 23) - 1)
        shift = UInt32(23 - stepBits)
        partScale = 1 / Float(1 << shift)
        count = Int(octavesBelowOne + octavesAboveOne) << Int(stepBits)
    }

    /// Returns the entry for a number. NaN uses the first one, because its comparison is false.
    @inline(__always) @inlinable
    public func index(_ number: Float) -> Int32 {
        let above = number > lowest ? number : lowest
        let clamped = above < highest ? above : highest
        return Int32(bitPattern: (clamped.bitPattern &- firstBits) &>> shift)
    }

    /// Returns the entry for a number, and the number's position between the entry's ends, 0 to 1.
    @inline(__always) @inlinable
    public func position(_ number: Float) -> (entry: Int32, part: Float) {
        let above = number > lowest ? number : lowest
        let clamped = above < highest ? above : highest
        let bits = clamped.bitPattern &- firstBits
        let rest = bits & (1 &<< shift &- 1)
        return (
            Int32(bitPattern: bits &>> shift),
            Float(Int32(bitPattern: rest)) * partScale
        )
    }

    /// Returns the number at the lower end of an entry.
    public func lowerEnd(of entry: Int) -> Double {
        Double(Float(bitPattern: firstBits + UInt32(entry) << shift))
    }

    /// Returns the number in the middle of an entry.
    public func centre(of entry: Int) -> Double {
        let half = UInt32(1) << (shift - 1)
        return Double(Float(bitPattern: firstBits + UInt32(entry) << shift + half))
    }
}

/// A table that pixel loops read by pointer, without bounds checks.
///
/// `@unchecked Sendable` is safe because the memory is never written after `init`, and `deinit` runs after the last owner is gone:
/// users of `values` must keep the table alive.
public final class Table<Element: BitwiseCopyable>: @unchecked Sendable {
    /// The entries; valid for the lifetime of this object.
    public let values: UnsafePointer<Element>
    public let count: Int

    public init(count: Int, _ entry: (Int) -> Element) {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: count)
        for index in 0..<count { memory[index] = entry(index) }
        values = UnsafePointer(memory)
        self.count = count
    }

    /// Computes each entry from the number in its middle.
    public convenience init(_ scale: LogScale, _ value: (Double) -> Element) {
        self.init(count: scale.count) { value(scale.centre(of: $0)) }
    }

    deinit { values.deallocate() }
}

/// The colour spaces that parameters can name.
enum NamedColourSpace: String, CaseIterable, Sendable {
    /// sRGB-encoded values, the input of most tables.
    case sRGB
    /// Display P3, encoded as sRGB is.
    case displayP3
    /// Linear light with sRGB primaries, Core Image's working space.
    case linearSRGB

    static func parameter(_ name: String, _ summary: String) -> ParameterDefinition {
        .choice(name, summary, allCases.map(\.rawValue))
    }

    init(_ filter: Filter, _ parameter: String) {
        guard let space = Self(rawValue: filter.text(parameter)) else {
            preconditionFailure("\(parameter) is a choice of colour spaces")
        }
        self = space
    }

    /// The matrix from linear light of Display P3 (white D65) to linear sRGB: SMPTE EG 432-1 and IEC 61966-2-1 via XYZ, with the
    /// matrices of CSS Color 4 §18.
    private static let p3ToSRGB: [Float] = [
        1.2249401763, -0.2249401763, 0,
        -0.0420569547, 1.0420569547, 0,
        -0.0196375546, -0.0786360456, 1.0982736002,
    ]
    private static let sRGBToP3: [Float] = [
        0.8224619688, 0.1775380312, 0,
        0.0331941989, 0.9668058011, 0,
        0.0170826307, 0.0723974407, 0.9105199286,
    ]

    func enter(_ pixels: PixelChunk) {
        if self == .displayP3 { pixels.multiply(by: Self.sRGBToP3) }
        if self != .linearSRGB { pixels.encode() }
    }

    /// Converts values of this space to working values.
    func leave(_ pixels: PixelChunk) {
        if self != .linearSRGB { pixels.decode() }
        if self == .displayP3 { pixels.multiply(by: Self.p3ToSRGB) }
    }
}
