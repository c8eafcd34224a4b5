/// Turns a positive number into a table index by the bits of its floating-point form.
///
/// Exponent and leading mantissa bits of a Float are a logarithm, near enough: each octave has the
/// same number of steps, so that the relative error of a table is the same everywhere, as the eye
/// wants it. It takes a subtraction and a shift, which the compiler vectorises; an index by √x cost
/// three square roots per pixel.
public struct LogScale: Sendable {
    /// Mantissa bits that count: 2^stepBits entries per octave.
    public let stepBits: Int32
    /// Smaller numbers, and negative ones, take the first entry.
    public let lowest: Float
    /// Larger numbers take the last entry: the greatest Float below 2^octavesAboveOne.
    public let highest: Float
    /// Entries of a table.
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

    /// The entry for a number. NaN takes the first one: it compares false.
    @inline(__always) @inlinable
    public func index(_ number: Float) -> Int32 {
        let above = number > lowest ? number : lowest
        let clamped = above < highest ? above : highest
        return Int32(bitPattern: (clamped.bitPattern &- firstBits) &>> shift)
    }

    /// The entry for a number, and how far the number lies from its lower end to its upper end, 0 to 1.
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

    /// The number at the lower end of an entry.
    public func lowerEnd(of entry: Int) -> Double {
        Double(Float(bitPattern: firstBits + UInt32(entry) << shift))
    }

    /// The number in the middle of an entry.
    public func centre(of entry: Int) -> Double {
        let half = UInt32(1) << (shift - 1)
        return Double(Float(bitPattern: firstBits + UInt32(entry) << shift + half))
    }
}

/// A table that pixel loops read by pointer, without bounds checks.
///
/// `@unchecked Sendable` is true because nobody writes the memory after `init`, and `deinit` runs
/// when the last owner is gone: who uses `values` keeps the table.
public final class Table<Element: BitwiseCopyable>: @unchecked Sendable {
    /// The entries; valid as long as this object.
    public let values: UnsafePointer<Element>
    /// Number of entries.
    public let count: Int

    /// Computes each entry from its number.
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
