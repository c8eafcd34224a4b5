import Codecs
import Edits
import Filters
import RenderProtocol

/// Colour filters over 10-bit planes: the counterpart of ``PlaneProgram`` for 8 bits.
///
/// Each luma sample, with the chroma sample that it shares, is a colour. A chroma sample of the result is the mean over the luma
/// samples that share it. Not thread-safe.
struct DeepPlaneProgram {
    private let filters: [any PixelFilter]
    private let coding: FrameCoding
    private let layout: FrameLayout
    private let memo = DeepColourMemo()

    /// - Parameters:
    ///   - filters: none uses its position.
    ///   - layout: a layout of 10 bits.
    init(_ filters: [any PixelFilter], _ layout: FrameLayout, _ colour: FrameColour) {
        (self.filters, self.layout) = (filters, layout)
        coding = FrameCoding(colour)
    }

    /// Edits rows of chroma and the luma that shares them.
    ///
    /// - Parameter rows: returns a row by its number.
    func edit(_ numbers: Range<Int>, _ rows: (Int) -> DeepRows) {
        let isLookedUp = memo.isWorthwhile
        var pixels = 0
        for number in numbers {
            let rows = rows(number)
            pixels += rows.count * layout.across * layout.down
            if isLookedUp { lookUp(rows) } else { compute(rows) }
        }
        if isLookedUp { memo.note(pixels: pixels) } else { memo.skip() }
    }

    private func lookUp(_ rows: DeepRows) {
        switch (layout.across, layout.down) {
        case (2, 2): memo.edit(rows, across: 2, down: 2, shift: 2, fill)
        case (2, 1): memo.edit(rows, across: 2, down: 1, shift: 1, fill)
        case (1, 2): memo.edit(rows, across: 1, down: 2, shift: 1, fill)
        default: memo.edit(rows, across: 1, down: 1, shift: 0, fill)
        }
    }

    private func fill(
        _ indices: UnsafePointer<UInt32>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) {
        Colours.with { colours in
            for number in 0..<count {
                let first = DeepColourMemo.codes(of: Int(indices[number]))
                for i in 0..<DeepColourMemo.run {
                    colours.set(
                        number * DeepColourMemo.run + i, luma: first.luma + i, blue: first.blue,
                        red: first.red)
                }
            }
            compute(colours, count: count * DeepColourMemo.run, into: results)
        }
    }

    /// Computes rows in chunks, without the memo.
    private func compute(_ rows: DeepRows) {
        let (across, down) = (layout.across, layout.down)
        let shift = UInt32((across * down).trailingZeroBitCount)
        let most = PixelChunk.capacity / (across * down)
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: PixelChunk.capacity) { memory in
            guard let results = memory.baseAddress else { return }
            Colours.with { colours in
                for start in stride(from: 0, to: rows.count, by: most) {
                    let columns = start..<min(start + most, rows.count)
                    var count = 0
                    for column in columns {
                        let (blue, red) = (Int(rows.blue[column]), Int(rows.red[column]))
                        for pixel in 0..<across * down {
                            let luma = pixel < across ? rows.luma : rows.below
                            let code = luma[column * across + pixel % across]
                            colours.set(count, luma: Int(code), blue: blue, red: red)
                            count += 1
                        }
                    }
                    compute(colours, count: count, into: results)
                    store(results, columns, shift: shift, in: rows)
                }
            }
        }
    }

    private func store(
        _ results: UnsafePointer<UInt32>, _ columns: Range<Int>, shift: UInt32, in rows: DeepRows
    ) {
        let across = layout.across
        var result = results
        for column in columns {
            var (blue, red): (UInt32, UInt32) = (0, 0)
            for pixel in 0..<across * layout.down {
                let luma = pixel < across ? rows.newLuma : rows.newBelow
                luma[column * across + pixel % across] = DeepColour.luma(result.pointee)
                blue &+= DeepColour.blue(result.pointee)
                red &+= DeepColour.red(result.pointee)
                result += 1
            }
            rows.newBlue[column] = DeepColour.mean(blue, shift: shift)
            rows.newRed[column] = DeepColour.mean(red, shift: shift)
        }
    }

    private func compute(
        _ colours: Colours, count: Int, into results: UnsafeMutablePointer<UInt32>
    ) {
        LightChunk.with { memory in
            let chunk = memory.chunk(count)
            chunk.alpha.update(repeating: 1, count: count)
            coding.read(colours.luma, colours.blue, colours.red, into: chunk)
            chunk.run(filters)
            coding.encode(chunk)
            coding.pack(chunk, into: results)
        }
    }

    /// The codes of a chunk in the form that ``FrameCoding`` reads.
    private struct Colours {
        let luma: UnsafeMutablePointer<UInt16>
        let blue, red: UnsafeMutablePointer<Int32>

        static func with(_ body: (Colours) -> Void) {
            let capacity = PixelChunk.capacity
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * capacity) { chroma in
                withUnsafeTemporaryAllocation(of: UInt16.self, capacity: capacity) { luma in
                    guard let chroma = chroma.baseAddress, let luma = luma.baseAddress else {
                        return
                    }
                    body(Colours(luma: luma, blue: chroma, red: chroma + capacity))
                }
            }
        }

        func set(_ i: Int, luma: Int, blue: Int, red: Int) {
            self.luma[i] = UInt16(truncatingIfNeeded: luma)
            self.blue[i] = Int32(truncatingIfNeeded: 16 &* blue)
            self.red[i] = Int32(truncatingIfNeeded: 16 &* red)
        }
    }
}

extension FrameCoding {
    func pack(_ chunk: PixelChunk, into results: UnsafeMutablePointer<UInt32>) {
        for i in 0..<chunk.count {
            let (r, g, b) = (chunk.red[i], chunk.green[i], chunk.blue[i])
            let y = equations.red * r + equations.green * g + equations.blue * b
            results[i] = DeepColour.pack(
                luma: y * equations.lumaCodes + equations.black,
                blue: (b - y) * equations.blueCodes + equations.zero,
                red: (r - y) * equations.redCodes + equations.zero)
        }
    }
}

/// An edited colour of 10-bit planes in 32 bits: luma in the highest 10, then red and blue chroma in halves of a code, 11 bits
/// each.
enum DeepColour {
    static let bits = 10
    private static let codeMax: Float = 1023

    /// Packs codes, which are clamped and rounded.
    @inline(__always)
    static func pack(luma: Float, blue: Float, red: Float) -> UInt32 {
        whole(luma, 1) &<< 22 | whole(red, 2) &<< 11 | whole(blue, 2)
    }

    @inline(__always)
    private static func whole(_ code: Float, _ parts: Float) -> UInt32 {
        let above = code > 0 ? code : 0
        let clamped = above < codeMax ? above : codeMax
        // No range check, as in FrameCoding.
        return (clamped * parts + 8_388_608).bitPattern & 0x7F_FFFF
    }

    @inline(__always)
    static func luma(_ colour: UInt32) -> UInt16 { UInt16(truncatingIfNeeded: colour &>> 22) }

    @inline(__always)
    static func blue(_ colour: UInt32) -> UInt32 { colour & 0x7FF }

    @inline(__always)
    static func red(_ colour: UInt32) -> UInt32 { colour &>> 11 & 0x7FF }

    /// Returns the code for a sum of 2^shift chromas.
    @inline(__always)
    static func mean(_ sum: UInt32, shift: UInt32) -> UInt16 {
        UInt16(truncatingIfNeeded: (sum &+ 1 &<< shift) &>> (1 &+ shift))
    }
}

/// A row of 10-bit chroma and the luma that shares it, of a decoder and of an encoder.
struct DeepRows {
    /// The first row of luma, the second row if there is one, and chroma.
    let luma, below, blue, red: UnsafePointer<UInt16>
    let newLuma, newBelow, newBlue, newRed: UnsafeMutablePointer<UInt16>
    let count: Int
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
    ///   - blue, red: sixteen times the chroma of each pixel.
    func read<Sample: FixedWidthInteger>(
        _ luma: UnsafePointer<Sample>, _ blue: UnsafePointer<Int32>, _ red: UnsafePointer<Int32>,
        into chunk: PixelChunk
    ) {
        let zero = 16 * equations.zero
        let (redByRed, greenByBlue) = (equations.redByRed / 16, equations.greenByBlue / 16)
        let (greenByRed, blueByBlue) = (equations.greenByRed / 16, equations.blueByBlue / 16)
        for i in 0..<chunk.count {
            let y =
                (Float(Int32(truncatingIfNeeded: luma[i])) - equations.black) * equations.scale
            let (b, r) = (Float(blue[i]) - zero, Float(red[i]) - zero)
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
