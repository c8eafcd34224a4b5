import Edits
import Filters
import Glibc

/// A vignette as the last step over planes.
///
/// Light times a gain is a sum of logarithms. The memo of colours keeps the logarithms of the light after the preceding filters.
/// One table has the logarithms of the gain by distance, and others have the contribution of each sum to the result. So there is no
/// floating-point arithmetic per colour, whatever the chain. Colours that share a chroma sample share a gain, since a vignette does
/// not change within two pixels.
///
/// Logarithms count 1/256 of an octave, which moves an 8-bit code by 0.15 at the most. Light below 2⁻¹⁶ is black, as is negative
/// light.
///
/// Measured on 24 MP, one core, beyond decoding and encoding planes: 180 ms with three 16-bit codes that are multiplied and summed,
/// and a gain per pixel. The time of the sums below is in the table of ops/bench.
struct PlaneVignette {
    private static let stepsPerOctave = 256.0
    /// The logarithm of light 1. The logarithm of 2⁻¹⁶ and less is 0.
    private static let one = 16 * 256
    /// The highest logarithm: light above 2³, or a gain above 2³, counts as 2³.
    private static let most = one + 3 * 256 - 1
    /// Entries of the table of gains: steps of a thousandth of a vignette's ramp, or finer.
    private static let entries = 8192

    /// Words that the memo keeps for each colour: the logarithms of red, green and blue, 16 bits each.
    static let words = 2

    private let centreX, centreY, scale: Float
    /// The logarithm of the gain by distance, three times, as in a colour's words.
    private let gains: Table<UInt64>
    /// The contribution to a result by the sum of light's and gain's logarithms, for red, green and blue.
    private let sums: [Table<UInt64>]

    // A result: red in the highest 16 bits and blue in the next 16, in 2^-codeBits of a code, and luma in the lower 32, in 2⁻¹⁸.
    // Four results can be summed.
    private let codeBits: Int
    private static let lumaBits = 18
    private static let shifts = [48, nil, 32]
    /// The factors from a difference in 2^-codeBits to chroma in 2⁻²².
    private let blueFactor, redFactor: Int
    /// The chroma of no difference.
    private let zero: Int
    /// Whether results may exceed white. If so, luma must be clamped.
    let isExtended: Bool

    /// - Parameter centre: the filter's centre in the stored picture, from the left and from the bottom.
    init(_ filter: any RadialGain, at centre: (x: Double, y: Double), _ colour: PlaneColour) {
        (centreX, centreY) = (Float(centre.x), Float(centre.y))
        let step = filter.reach / Double(Self.entries - 1)
        scale = Float(1 / step)
        gains = Table(count: Self.entries) {
            let gain = UInt64(Self.logarithm(filter.gain(at: Double($0) * step)))
            return gain | gain << 16 | gain << 32
        }
        // Codes above white need two more bits.
        isExtended = colour.curves.isExtended
        let codeBits = isExtended ? 4 : 6
        let codeMax = Double(1 << (14 - codeBits)) - 1
        let equations = colour.equations
        let shares = equations.shares
        sums = colour.curves.code.enumerated().map { channel, code in
            Table(count: 2 * Self.most + 1) { sum in
                let light = exp2(Double(sum - 2 * Self.one) / Self.stepsPerOctave)
                let code = min(
                    code(light) * Double(equations.lumaCodes) + Double(equations.black), codeMax)
                let luma = code * shares[channel] * Double(1 << Self.lumaBits)
                let own = Self.shifts[channel].map {
                    UInt64((code * Double(1 << codeBits)).rounded()) << UInt64($0)
                }
                return UInt64(luma.rounded()) | (own ?? 0)
            }
        }
        func factor(_ codes: Float) -> Int {
            Int((Double(codes / equations.lumaCodes) * Double(1 << (22 - codeBits))).rounded())
        }
        (blueFactor, redFactor) = (factor(equations.blueCodes), factor(equations.redCodes))
        zero = Int(equations.zero)
        self.codeBits = codeBits
    }

    private static func logarithm(_ light: Double) -> Int {
        guard light > 0 else { return 0 }
        return min(max(one + Int((log2(light) * stepsPerOctave).rounded()), 0), most)
    }

    /// Computes the gains of a row of chroma samples.
    ///
    /// - Parameters:
    ///   - across: pixels per sample.
    ///   - y: the samples' centres, from the bottom, in pixels.
    func fill(_ row: UnsafeMutablePointer<UInt64>, count: Int, across: Int, y: Double) {
        let (scale, step) = (scale, Float(across))
        let left = step / 2 - centreX
        let square = (Float(y) - centreY) * (Float(y) - centreY)
        let last = Float(Self.entries - 1)
        let gains = gains.values
        for i in 0..<count {
            let dx = Float(i) * step + left
            let position = (dx * dx + square).squareRoot() * scale
            // The low bits of a number between 2²³ and 2²⁴ are its integer part: no check, no branch.
            let whole = ((position < last ? position : last) + 8_388_608).bitPattern & 0x7F_FFFF
            row[i] = gains[Int(whole)]
        }
    }

    /// Packs colours of linear light into the memo's words.
    func pack(_ chunk: PixelChunk, into words: UnsafeMutablePointer<UInt32>) {
        func logarithm(_ light: Float) -> UInt32 { UInt32(Self.logarithm(Double(light))) }
        for i in 0..<chunk.count {
            words[2 * i] = logarithm(chunk.red[i]) | logarithm(chunk.green[i]) << 16
            words[2 * i + 1] = logarithm(chunk.blue[i])
        }
    }

    /// Replaces a row of chroma and the luma that shares it, like ``ByteMemo/replace(_:_:)``.
    ///
    /// All colours of a block are looked up before any is summed. So a cache miss overlaps with other loads, instead of delaying
    /// each sum.
    ///
    /// - Parameters:
    ///   - isExtended: the same as ``isExtended``, as a literal: clamping luma takes 2 % of a JPEG, which has none above white.
    ///   - gains: computed by ``fill(_:count:across:y:)``.
    @inline(__always)
    func replace(
        _ rows: PlaneRows<UInt8>, across: Int, down: Int, shift: Int, isExtended: Bool,
        gains: UnsafePointer<UInt64>, in memo: ByteMemo, _ fill: ByteMemo.Fill
    ) {
        let capacity = ByteMemo.planeBlock &* across &* down
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: capacity) { memory in
            guard let words = memory.baseAddress else { return }
            var start = 0
            while start < rows.count {
                let block = start..<min(start &+ ByteMemo.planeBlock, rows.count)
                memo.prefetch(rows, block, across: across, down: down)
                lookUp(rows, block, across: across, down: down, into: words, in: memo, fill)
                add(
                    gains, to: words, rows, block, across: across, down: down, shift: shift,
                    isExtended: isExtended)
                start = block.upperBound
            }
        }
    }

    /// Looks up the words of the colours of a block, those of one chroma sample after those of the other.
    @inline(__always)
    private func lookUp(
        _ rows: PlaneRows<UInt8>, _ block: Range<Int>, across: Int, down: Int,
        into words: UnsafeMutablePointer<UInt64>, in memo: ByteMemo, _ fill: ByteMemo.Fill
    ) {
        let (pages, length) = (memo.pages, ByteMemo.run)
        let results = UnsafeRawPointer(memo.results)
        var words = words
        for column in block {
            let chroma = ByteMemo.index(
                blue: rows.blue[column], red: rows.red[column], luma: 0)
            let above = rows.luma + column &* across
            let below = rows.below + column &* across
            let first = Int(above[0])
            let second = across == 2 ? Int(above[1]) : first
            let third = down == 2 ? Int(below[0]) : first
            let fourth = down == 2 && across == 2 ? Int(below[1]) : first
            // Usually all lumas of a chroma are in one run, so one lookup suffices.
            let isOneRun = (first ^ second) | (first ^ third) | (first ^ fourth) < length
            var run = 0
            if isOneRun {
                let page = chroma | first &>> 5
                run = Int(pages[page])
                if run == 0 { run = memo.make(page, fill) }
            }
            for y in 0..<down {
                let luma = y == 0 ? above : below
                for x in 0..<across {
                    let code = Int(luma[x])
                    if !isOneRun {
                        let page = chroma | code &>> 5
                        run = Int(pages[page])
                        if run == 0 { run = memo.make(page, fill) }
                    }
                    words.pointee = results.load(
                        fromByteOffset: (run &<< 5 | code & 31) &<< 3, as: UInt64.self)
                    words += 1
                }
            }
        }
    }

    /// Adds the gains to the words of a block and writes the results.
    @inline(__always)
    private func add(
        _ gains: UnsafePointer<UInt64>, to words: UnsafePointer<UInt64>,
        _ rows: PlaneRows<UInt8>, _ block: Range<Int>, across: Int, down: Int, shift: Int,
        isExtended: Bool
    ) {
        let (red, green, blue) = (sums[0].values, sums[1].values, sums[2].values)
        let chroma = chroma(shift: shift)
        var words = words
        for column in block {
            let gain = gains[column]
            var total: UInt64 = 0
            for y in 0..<down {
                let luma = (y == 0 ? rows.newLuma : rows.newBelow) + column &* across
                for x in 0..<across {
                    let result = result(words.pointee &+ gain, red, green, blue)
                    luma[x] = Self.luma(of: result, isExtended: isExtended)
                    total &+= result
                    words += 1
                }
            }
            (rows.newBlue[column], rows.newRed[column]) = chroma.codes(of: total)
        }
    }

    /// Returns the result for a colour's words and a gain, without the memo.
    func result(_ words: UnsafePointer<UInt32>, gain: UInt64) -> UInt64 {
        let colour = UInt64(words[0]) | UInt64(words[1]) << 32
        return result(colour &+ gain, sums[0].values, sums[1].values, sums[2].values)
    }

    @inline(__always)
    private func result(
        _ logarithms: UInt64, _ red: UnsafePointer<UInt64>, _ green: UnsafePointer<UInt64>,
        _ blue: UnsafePointer<UInt64>
    ) -> UInt64 {
        red[Int(truncatingIfNeeded: logarithms & 0xFFFF)]
            &+ green[Int(truncatingIfNeeded: logarithms &>> 16 & 0xFFFF)]
            &+ blue[Int(truncatingIfNeeded: logarithms &>> 32)]
    }

    @inline(__always)
    static func luma(of result: UInt64, isExtended: Bool) -> UInt8 {
        let code = (result & 0xFFFF_FFFF &+ 1 &<< 17) &>> 18
        return UInt8(truncatingIfNeeded: !isExtended || code < 255 ? code : 255)
    }

    /// Converts sums of results to chroma.
    struct Chroma {
        fileprivate let lumaShift: UInt64, shift: Int, blueFactor: Int, redFactor: Int, zero: Int

        @inline(__always)
        func codes(of total: UInt64) -> (blue: UInt8, red: UInt8) {
            let luma = Int(truncatingIfNeeded: (total & 0xFFFF_FFFF) &>> lumaShift)
            let blue = Int(truncatingIfNeeded: total &>> 32 & 0xFFFF) &>> shift
            let red = Int(truncatingIfNeeded: total &>> 48) &>> shift
            return (code((blue &- luma) &* blueFactor), code((red &- luma) &* redFactor))
        }

        /// Converts a chroma in 2⁻²² of a code to a code.
        @inline(__always)
        private func code(_ difference: Int) -> UInt8 {
            let code = zero &+ (difference &+ 1 &<< 21) &>> 22
            let above = code > 0 ? code : 0
            return UInt8(truncatingIfNeeded: above < 255 ? above : 255)
        }
    }

    /// Creates the converter for sums of 2^shift results.
    @inline(__always)
    func chroma(shift: Int) -> Chroma {
        Chroma(
            lumaShift: UInt64(Self.lumaBits &- codeBits &+ shift), shift: shift,
            blueFactor: blueFactor, redFactor: redFactor, zero: zero)
    }
}
