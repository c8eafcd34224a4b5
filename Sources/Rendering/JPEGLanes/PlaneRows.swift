import Edits
import Filters

/// A row of chroma and the luma that shares it, to read and to write.
struct PlaneRows<Sample: FixedWidthInteger & UnsignedInteger> {
    /// The first row of luma, the second row if there is one, and chroma.
    let luma, below, blue, red: UnsafePointer<Sample>
    /// Rows for the results, which may be the same.
    let newLuma, newBelow, newBlue, newRed: UnsafeMutablePointer<Sample>
    /// Samples of chroma.
    let count: Int
    /// Samples of luma to a sample of chroma: 1 or 2.
    let across, down: Int

    /// Samples of luma that share a sample of chroma: 1, 2 or 4.
    var size: Int { across * down }

    /// Calls `body` with literals for across, down and the binary logarithm of their product, so that its loops are unrolled.
    @inline(__always)
    func unrolled(_ body: (_ across: Int, _ down: Int, _ shift: UInt32) -> Void) {
        switch (across, down) {
        case (2, 2): body(2, 2, 2)
        case (2, 1): body(2, 1, 1)
        case (1, 2): body(1, 2, 1)
        default: body(1, 1, 0)
        }
    }

    /// Iterates over the luma samples of some chroma samples, those of one chroma sample after those of the other.
    @inline(__always)
    func visit(
        _ columns: Range<Int>,
        _ body: (_ index: Int, _ x: Int, _ isBelow: Bool, _ column: Int) -> Void
    ) {
        var index = 0
        for column in columns {
            for y in 0..<down {
                for x in 0..<across {
                    body(index, column * across + x, y == 1, column)
                    index += 1
                }
            }
        }
    }

    /// Computes `count` colours.
    typealias Compute = (
        _ codes: PlaneCodes<Sample>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) -> Void

    /// Computes the colours of a row, chunk by chunk.
    ///
    /// - Parameters:
    ///   - words: words of a result.
    ///   - store: writes the results of some chroma samples.
    @inline(__always)
    func compute(
        words: Int, _ compute: Compute,
        _ store: (_ results: UnsafePointer<UInt32>, _ columns: Range<Int>) -> Void
    ) {
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: words * capacity) { packed in
            PlaneCodes<Sample>.with(capacity) { codes in
                guard let results = packed.baseAddress else { return }
                for start in stride(from: 0, to: count, by: capacity / size) {
                    let columns = start..<min(start + capacity / size, count)
                    visit(columns) { i, x, isBelow, column in
                        codes.set(i, (isBelow ? below : luma)[x], blue[column], red[column])
                    }
                    compute(codes, columns.count * size, results)
                    store(results, columns)
                }
            }
        }
    }

    /// Computes a row whose results are of a word each. A chroma sample becomes the mean of the colours that share it.
    @inline(__always)
    func compute<Packed: PackedColour>(
        as packed: Packed.Type, _ compute: Compute
    ) where Packed.Sample == Sample {
        let shift = UInt32(size.trailingZeroBitCount)
        self.compute(words: 1, compute) { results, columns in
            var (blues, reds): (UInt32, UInt32) = (0, 0)
            visit(columns) { i, x, isBelow, column in
                (isBelow ? newBelow : newLuma)[x] = Packed.luma(results[i])
                blues &+= Packed.blue(results[i])
                reds &+= Packed.red(results[i])
                guard (i + 1) & (size - 1) == 0 else { return }
                newBlue[column] = Packed.mean(blues, shift: shift)
                newRed[column] = Packed.mean(reds, shift: shift)
                (blues, reds) = (0, 0)
            }
        }
    }
}

extension PlaneRows {
    /// Rows that are overwritten.
    init(
        inPlace luma: UnsafeMutablePointer<Sample>, stride: Int,
        blue: UnsafeMutablePointer<Sample>, red: UnsafeMutablePointer<Sample>, count: Int,
        across: Int, down: Int
    ) {
        self.init(
            luma: luma, below: luma + stride, blue: blue, red: red, newLuma: luma,
            newBelow: luma + stride, newBlue: blue, newRed: red, count: count, across: across,
            down: down)
    }
}

/// The codes of some colours.
struct PlaneCodes<Sample: FixedWidthInteger & UnsignedInteger> {
    let luma, blue, red: UnsafeMutablePointer<Sample>

    /// Allocates memory for `capacity` colours, for the duration of a call.
    static func with(_ capacity: Int, _ body: (PlaneCodes) -> Void) {
        withUnsafeTemporaryAllocation(of: Sample.self, capacity: 3 * capacity) { memory in
            guard let start = memory.baseAddress else { return }
            body(PlaneCodes(luma: start, blue: start + capacity, red: start + 2 * capacity))
        }
    }

    @inline(__always)
    func set(_ i: Int, _ luma: Sample, _ blue: Sample, _ red: Sample) {
        self.luma[i] = luma
        self.blue[i] = blue
        self.red[i] = red
    }
}

/// The form of an edited colour of planes in 32 bits: luma in the highest, then red and blue chroma in parts of a code, so that the
/// mean of up to four is rounded only once.
protocol PackedColour {
    associatedtype Sample: FixedWidthInteger & UnsignedInteger
    static var codeMax: Float { get }
    /// Bits of a chroma, and how many of them are a fraction.
    static var chromaBits: UInt32 { get }
    static var partBits: UInt32 { get }
    /// Rounds a number between 0 and 2²³.
    static func rounded(_ number: Float) -> UInt32
}

extension PackedColour {
    /// Packs codes, which are clamped and rounded.
    @inline(__always)
    static func pack(luma: Float, blue: Float, red: Float) -> UInt32 {
        let parts = Float(1 &<< partBits)
        return whole(luma, 1) &<< (2 &* chromaBits) | whole(red, parts) &<< chromaBits
            | whole(blue, parts)
    }

    @inline(__always)
    private static func whole(_ code: Float, _ parts: Float) -> UInt32 {
        let above = code > 0 ? code : 0
        let clamped = above < codeMax ? above : codeMax
        return rounded(clamped * parts)
    }

    @inline(__always)
    static func luma(_ colour: UInt32) -> Sample {
        Sample(truncatingIfNeeded: colour &>> (2 &* chromaBits))
    }

    /// Returns the blue chroma in parts of a code.
    @inline(__always)
    static func blue(_ colour: UInt32) -> UInt32 { colour & (1 &<< chromaBits &- 1) }

    @inline(__always)
    static func red(_ colour: UInt32) -> UInt32 { blue(colour &>> chromaBits) }

    /// Returns the code for a sum of 2^shift chromas.
    @inline(__always)
    static func mean(_ sum: UInt32, shift: UInt32) -> Sample {
        let bits = partBits &+ shift
        return Sample(truncatingIfNeeded: (sum &+ 1 &<< (bits &- 1)) &>> bits)
    }
}

/// A colour of 8-bit planes. Chroma has 12 bits, so that four words can be summed.
enum ByteColour: PackedColour {
    typealias Sample = UInt8
    static var codeMax: Float { 255 }
    static var chromaBits: UInt32 { 12 }
    static var partBits: UInt32 { 2 }

    @inline(__always)
    static func rounded(_ number: Float) -> UInt32 {
        UInt32(bitPattern: Int32(number + 0.5))
    }
}

/// A colour of 10-bit planes.
enum DeepColour: PackedColour {
    typealias Sample = UInt16
    static let bits = 10
    static var codeMax: Float { 1023 }
    static var chromaBits: UInt32 { 11 }
    static var partBits: UInt32 { 1 }

    // No range check, as in FrameCoding.
    @inline(__always)
    static func rounded(_ number: Float) -> UInt32 { (number + 8_388_608).bitPattern & 0x7F_FFFF }
}

extension PlaneEquations {
    /// Packs red, green and blue.
    func pack<Packed: PackedColour>(
        _ chunk: PixelChunk, as packed: Packed.Type, into results: UnsafeMutablePointer<UInt32>
    ) {
        for i in 0..<chunk.count {
            let (r, g, b) = (chunk.red[i], chunk.green[i], chunk.blue[i])
            let y = red * r + green * g + blue * b
            results[i] = Packed.pack(
                luma: y * lumaCodes + black, blue: (b - y) * blueCodes + zero,
                red: (r - y) * redCodes + zero)
        }
    }
}
