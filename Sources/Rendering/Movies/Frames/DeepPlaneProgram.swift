import Codecs
import Edits
import Filters

/// Colour filters over 10-bit planes: the counterpart of ``PlaneProgram`` for 8 bits. Not thread-safe.
struct DeepPlaneProgram {
    private let filters: [any PixelFilter]
    private let coding: FrameCoding
    private let memo = DeepMemo()

    /// - Parameter filters: none uses its position.
    init(_ filters: [any PixelFilter], _ colour: FrameColour) {
        self.filters = filters
        coding = FrameCoding(colour)
    }

    /// Edits rows of chroma and the luma that shares them.
    ///
    /// - Parameter rows: returns a row by its number.
    func edit(_ numbers: Range<Int>, _ rows: (Int) -> PlaneRows<UInt16>) {
        let isLookedUp = memo.isWorthwhile
        var pixels = 0
        for number in numbers {
            let rows = rows(number)
            pixels += rows.count * rows.size
            if isLookedUp {
                memo.edit(rows, fill)
            } else {
                rows.compute(as: DeepColour.self, compute)
            }
        }
        if isLookedUp { memo.note(pixels: pixels) } else { memo.skip() }
    }

    private func fill(
        _ indices: UnsafePointer<UInt32>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) {
        PlaneCodes<UInt16>.with(DeepMemo.together * DeepMemo.run) { codes in
            for number in 0..<count {
                let first = DeepMemo.codes(of: Int(indices[number]))
                for i in 0..<DeepMemo.run {
                    codes.set(
                        number * DeepMemo.run + i, UInt16(truncatingIfNeeded: first.luma + i),
                        UInt16(truncatingIfNeeded: first.blue),
                        UInt16(truncatingIfNeeded: first.red))
                }
            }
            compute(codes, count * DeepMemo.run, results)
        }
    }

    private func compute(
        _ codes: PlaneCodes<UInt16>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) {
        LightChunk.with { memory in
            let chunk = memory.chunk(count)
            chunk.alpha.update(repeating: 1, count: count)
            coding.read(codes.luma, codes.blue, codes.red, parts: 1, into: chunk)
            chunk.run(filters)
            coding.encode(chunk)
            coding.equations.pack(chunk, as: DeepColour.self, into: results)
        }
    }
}

/// Converts codes of a frame to linear light with sRGB's primaries, and back, arithmetically: for frames that are edited in rows.
///
/// It is the counterpart of ``PlaneColour`` for 8 bits, without tables by code. Light is not limited; light beyond the full range
/// of codes is clipped.
struct FrameCoding: Sendable {
    /// White is 1.
    let equations: PlaneEquations
    private let toLight, toCodes: LightCurve
    private let toWorking, fromWorking: ColourMatrix?
    private let isExtended: Bool
    private let codeMax: Float

    init(_ colour: FrameColour) {
        equations = colour.equations(white: 1)
        let transfer = colour.transfer
        toLight = LightCurve(transfer.linear)
        toCodes = LightCurve(transfer.encoded)
        (toWorking, fromWorking) = (colour.toWorking, colour.fromWorking)
        isExtended = colour.isExtended
        codeMax = Float(1 << colour.codes.bits - 1)
    }

    /// Converts codes to light.
    ///
    /// - Parameters:
    ///   - blue, red: the chroma of each pixel, in parts of a code.
    ///   - parts: a power of two, so that no bit is lost.
    @inline(__always)
    func read<Sample: FixedWidthInteger, Chroma: FixedWidthInteger>(
        _ luma: UnsafePointer<Sample>, _ blue: UnsafePointer<Chroma>,
        _ red: UnsafePointer<Chroma>, parts: Float, into chunk: PixelChunk
    ) {
        let zero = parts * equations.zero
        let (redByRed, greenByBlue) = (equations.redByRed / parts, equations.greenByBlue / parts)
        let (greenByRed, blueByBlue) = (equations.greenByRed / parts, equations.blueByBlue / parts)
        for i in 0..<chunk.count {
            let y =
                (Float(Int32(truncatingIfNeeded: luma[i])) - equations.black) * equations.scale
            let (b, r) = (
                Float(Int32(truncatingIfNeeded: blue[i])) - zero,
                Float(Int32(truncatingIfNeeded: red[i])) - zero
            )
            chunk.red[i] = y + redByRed * r
            chunk.green[i] = y - greenByBlue * b - greenByRed * r
            chunk.blue[i] = y + blueByBlue * b
        }
        for plane in [chunk.red, chunk.green, chunk.blue] {
            if !isExtended { limit(plane, chunk.count) }
            toLight.applySigned(to: plane, count: chunk.count)
        }
        if let toWorking { chunk.multiply(by: toWorking) }
    }

    /// Converts light to red, green and blue, in place; white is 1.
    func encode(_ chunk: PixelChunk) {
        if let fromWorking { chunk.multiply(by: fromWorking) }
        for plane in [chunk.red, chunk.green, chunk.blue] {
            toCodes.applySigned(to: plane, count: chunk.count)
            if !isExtended { limit(plane, chunk.count) }
        }
    }

    private func limit(_ plane: UnsafeMutablePointer<Float>, _ count: Int) {
        for i in 0..<count {
            let above = plane[i] > 0 ? plane[i] : 0
            plane[i] = above < 1 ? above : 1
        }
    }

    /// Writes the luma of red, green and blue, and returns the differences of blue and red to it.
    ///
    /// - Parameter chunk: its planes of red and blue are overwritten with the differences.
    func writeLuma<Sample: FixedWidthInteger>(
        _ chunk: PixelChunk, to luma: UnsafeMutablePointer<Sample>
    ) {
        for i in 0..<chunk.count {
            let (r, g, b) = (chunk.red[i], chunk.green[i], chunk.blue[i])
            let y = equations.red * r + equations.green * g + equations.blue * b
            luma[i] = code(y * equations.lumaCodes + equations.black)
            chunk.red[i] = r - y
            chunk.blue[i] = b - y
        }
    }

    /// Writes a row of chroma.
    ///
    /// - Parameters:
    ///   - blue, red: sums of differences over `pixels` pixels.
    func writeChroma<Sample: FixedWidthInteger>(
        _ blue: UnsafePointer<Float>, _ red: UnsafePointer<Float>, count: Int, pixels: Int,
        to blueCodes: UnsafeMutablePointer<Sample>, _ redCodes: UnsafeMutablePointer<Sample>
    ) {
        let (byBlue, byRed) = (
            equations.blueCodes / Float(pixels), equations.redCodes / Float(pixels)
        )
        for i in 0..<count {
            blueCodes[i] = code(blue[i] * byBlue + equations.zero)
            redCodes[i] = code(red[i] * byRed + equations.zero)
        }
    }

    @inline(__always)
    private func code<Sample: FixedWidthInteger>(_ number: Float) -> Sample {
        let above = number > 0 ? number : 0
        let clamped = above < codeMax ? above : codeMax
        // The low bits of a number between 2²³ and 2²⁴ are its integer part, rounded. Without a check, the loop is vectorized.
        return Sample(truncatingIfNeeded: (clamped + 8_388_608).bitPattern & 0x7F_FFFF)
    }
}
