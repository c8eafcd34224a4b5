import Edits
import Codecs
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

    /// Computes runs of the memo.
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
    /// Packs red, green and blue.
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
