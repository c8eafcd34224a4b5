/// An edited colour of planes in 32 bits, packed so that up to four can be summed for their mean.
///
/// Luma is in the highest byte. Red and blue chroma are in quarters of a code, 12 bits each, so that the mean of four is rounded
/// only once.
enum PackedColour {
    /// Packs codes from 0 to 255, which are clamped; luma is rounded.
    @inline(__always)
    static func pack(luma: Float, blue: Float, red: Float) -> UInt32 {
        whole(luma, 1) &<< 24 | whole(red, 4) &<< 12 | whole(blue, 4)
    }

    @inline(__always)
    private static func whole(_ code: Float, _ parts: Float) -> UInt32 {
        let above = code > 0 ? code : 0
        let clamped = above < 255 ? above : 255
        return UInt32(bitPattern: Int32(clamped * parts + 0.5))
    }

    @inline(__always)
    static func luma(_ colour: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: colour &>> 24) }

    /// Returns the mean of 2^shift colours. Its luma is meaningless.
    @inline(__always)
    static func meanBlue(_ sum: UInt32, shift: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: (sum & 0xFFF &+ 2 &<< shift) &>> (2 &+ shift))
    }

    @inline(__always)
    static func meanRed(_ sum: UInt32, shift: UInt32) -> UInt8 {
        meanBlue(sum &>> 12, shift: shift)
    }
}

extension ColourMemo {
    /// Returns the index of a chroma and the first of 32 lumas.
    static func index(blue: UInt8, red: UInt8, luma: UInt8) -> Int {
        Int(blue) &<< 11 | Int(red) &<< 3 | Int(luma) &>> 5
    }

    /// Returns the chroma and the first luma of an index.
    static func codes(of index: Int) -> (blue: UInt8, red: UInt8, luma: UInt8) {
        (
            UInt8(truncatingIfNeeded: index >> 11), UInt8(truncatingIfNeeded: index >> 3),
            UInt8(truncatingIfNeeded: index << 5)
        )
    }

    /// Columns of chroma whose results are asked for together.
    static let planeBlock = 128

    /// Asks for the results of the first and last luma of each chroma sample of a block; see ``prefetch(_:count:)``.
    ///
    /// - Parameters:
    ///   - rows: of planes.
    ///   - columns: of chroma, ``planeBlock`` at most.
    @inline(__always)
    func prefetch(_ rows: PlaneProgram.Rows, _ columns: Range<Int>, across: Int, down: Int) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 2 * Self.planeBlock) { memory in
            guard let colours = memory.baseAddress else { return }
            let last = (down == 2 ? rows.below : rows.luma) + (across &- 1)
            var count = 0
            for column in columns {
                let chroma = UInt32(rows.blue[column]) &<< 16 | UInt32(rows.red[column]) &<< 8
                colours[count] = chroma | UInt32(rows.luma[column &* across])
                colours[count &+ 1] = chroma | UInt32(last[column &* across])
                count &+= 2
            }
            prefetch(colours, count: count)
        }
    }

    /// Replaces a row of chroma and the luma that shares it.
    ///
    /// - Parameters:
    ///   - rows: of planes.
    ///   - across, down: samples of luma to a sample of chroma. Literals: the loops are unrolled.
    ///   - shift: the binary logarithm of across × down.
    @inline(__always)
    func replace(
        _ rows: PlaneProgram.Rows, across: Int, down: Int, shift: UInt32, _ fill: Fill
    ) {
        var start = 0
        while start < rows.count {
            let block = start..<min(start &+ Self.planeBlock, rows.count)
            prefetch(rows, block, across: across, down: down)
            replace(rows, block, across: across, down: down, shift: shift, fill)
            start = block.upperBound
        }
    }

    @inline(__always)
    private func replace(
        _ rows: PlaneProgram.Rows, _ columns: Range<Int>, across: Int, down: Int, shift: UInt32,
        _ fill: Fill
    ) {
        let (luma, below, blue, red) = (rows.luma, rows.below, rows.blue, rows.red)
        let (pages, results, length) = (pages, results, Self.run)
        for column in columns {
            let chroma = Self.index(blue: blue[column], red: red[column], luma: 0)
            let start = luma + column &* across
            let lower = below + column &* across
            let first = Int(start[0])
            let second = across == 2 ? Int(start[1]) : first
            let third = down == 2 ? Int(lower[0]) : first
            let fourth = down == 2 && across == 2 ? Int(lower[1]) : first
            var sum: UInt32 = 0
            let index = chroma | first &>> 5
            if (first ^ second) | (first ^ third) | (first ^ fourth) < length {
                var run = Int(pages[index])
                if run == 0 { run = make(index, fill) }
                let colours = results + run &<< 5
                for y in 0..<down {
                    let row = y == 0 ? start : lower
                    for x in 0..<across {
                        let result = colours[Int(row[x]) & 31]
                        row[x] = PackedColour.luma(result)
                        sum &+= result
                    }
                }
            } else {
                for y in 0..<down {
                    let row = y == 0 ? start : lower
                    for x in 0..<across {
                        let code = Int(row[x])
                        let index = chroma | code &>> 5
                        var run = Int(pages[index])
                        if run == 0 { run = make(index, fill) }
                        let result = results[run &<< 5 | code & 31]
                        row[x] = PackedColour.luma(result)
                        sum &+= result
                    }
                }
            }
            blue[column] = PackedColour.meanBlue(sum, shift: shift)
            red[column] = PackedColour.meanRed(sum, shift: shift)
        }
    }
}
