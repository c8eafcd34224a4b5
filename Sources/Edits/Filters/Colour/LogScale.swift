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
    /// Number of entries.
    public let count: Int

    /// Computes each entry from its index.
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
