extension ByteMemo {
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
    static var planeBlock: Int { 128 }

    /// Asks for the results of the first and last luma of each chroma sample of a block; see ``prefetch(_:count:)``.
    ///
    /// - Parameters:
    ///   - rows: of planes.
    ///   - columns: of chroma, ``planeBlock`` at most.
    @inline(__always)
    func prefetch(_ rows: PlaneRows<UInt8>, _ columns: Range<Int>, across: Int, down: Int) {
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

    /// Replaces a row of chroma and the luma that shares it, in place.
    func replace(_ rows: PlaneRows<UInt8>, _ fill: Fill) {
        rows.unrolled { replace(rows, across: $0, down: $1, shift: $2, fill) }
    }

    @inline(__always)
    private func replace(
        _ rows: PlaneRows<UInt8>, across: Int, down: Int, shift: UInt32, _ fill: Fill
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
        _ rows: PlaneRows<UInt8>, _ columns: Range<Int>, across: Int, down: Int, shift: UInt32,
        _ fill: Fill
    ) {
        let (luma, below) = (rows.newLuma, rows.newBelow)
        let (blue, red) = (rows.newBlue, rows.newRed)
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
                        row[x] = ByteColour.luma(result)
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
                        row[x] = ByteColour.luma(result)
                        sum &+= result
                    }
                }
            }
            blue[column] = ByteColour.mean(ByteColour.blue(sum), shift: shift)
            red[column] = ByteColour.mean(ByteColour.red(sum), shift: shift)
        }
    }
}

/// The memo of a movie's colours of 10-bit codes: 32 MB. Not thread-safe.
typealias DeepMemo = ColourMemo<UInt32>

extension DeepMemo {
    static var runsMax: Int { 1 << 18 }
    /// Columns whose missing runs are computed together.
    private static var block: Int { 64 }
    /// Indices whose runs are computed together.
    static var together: Int { 8 }
    private static var codeMask: Int { 1023 }

    /// Indices are 128 MB of address space.
    convenience init() {
        self.init(indices: 1 << 25, runsMax: Self.runsMax, words: 1, hasHugePages: true)
    }

    /// Returns the index of a chroma with luma 0. Chromas that occur together in pictures have neighbouring indices: 8 × 8 of them
    /// take two pages of memory.
    @inline(__always)
    private static func index(_ blue: UInt16, _ red: UInt16) -> Int {
        let (b, r) = (Int(blue) & codeMask, Int(red) & codeMask)
        return (b & 0x3F8) &<< 15 | (r & 0x3F8) &<< 8 | (b & 7) &<< 8 | (r & 7) &<< 5
    }

    /// Returns the chroma and the first luma of an index.
    static func codes(of index: Int) -> (blue: Int, red: Int, luma: Int) {
        (
            index >> 15 & 0x3F8 | index >> 8 & 7, index >> 8 & 0x3F8 | index >> 5 & 7,
            (index & 31) << 5
        )
    }

    /// Edits a row of chroma and the luma that shares it.
    ///
    /// Each sample of luma looks up its own run, without a check for the neighbour's run: a mispredicted branch takes longer than
    /// four lookups.
    func edit(_ rows: PlaneRows<UInt16>, _ fill: Fill) {
        rows.unrolled { edit(rows, across: $0, down: $1, shift: $2, fill) }
    }

    @inline(__always)
    private func edit(
        _ rows: PlaneRows<UInt16>, across: Int, down: Int, shift: UInt32, _ fill: Fill
    ) {
        let (pages, results) = (pages, results)
        for column in 0..<rows.count {
            let chroma = Self.index(rows.blue[column], rows.red[column])
            let start = column &* across
            @inline(__always) func luma(_ x: Int, _ y: Int) -> Int {
                Int((y == 0 ? rows.luma : rows.below)[start &+ x]) & Self.codeMask
            }
            let first = luma(0, 0)
            let second = across == 2 ? luma(1, 0) : first
            let third = down == 2 ? luma(0, 1) : first
            let fourth = across == 2 && down == 2 ? luma(1, 1) : first
            @inline(__always) func run(_ luma: Int) -> UInt32 { pages[chroma | luma &>> 5] }
            var (a, b, c, d) = (run(first), run(second), run(third), run(fourth))
            if a == 0 || b == 0 || c == 0 || d == 0 {
                make(rows, from: column, across: across, down: down, fill)
                (a, b, c, d) = (run(first), run(second), run(third), run(fourth))
            }
            @inline(__always) func result(_ run: UInt32, _ luma: Int) -> UInt32 {
                results[Int(run) &<< 5 | luma & 31]
            }
            let (above, below) = (rows.newLuma + start, rows.newBelow + start)
            var (blue, red): (UInt32, UInt32) = (0, 0)
            @inline(__always) func add(
                _ result: UInt32, to target: UnsafeMutablePointer<UInt16>
            ) {
                target.pointee = DeepColour.luma(result)
                blue &+= DeepColour.blue(result)
                red &+= DeepColour.red(result)
            }
            add(result(a, first), to: above)
            if across == 2 { add(result(b, second), to: above + 1) }
            if down == 2 { add(result(c, third), to: below) }
            if across == 2 && down == 2 { add(result(d, fourth), to: below + 1) }
            rows.newBlue[column] = DeepColour.mean(blue, shift: shift)
            rows.newRed[column] = DeepColour.mean(red, shift: shift)
        }
    }

    /// Computes the missing runs of a column, and with them the missing runs of the next columns.
    @inline(never)
    private func make(
        _ rows: PlaneRows<UInt16>, from first: Int, across: Int, down: Int, _ fill: Fill
    ) {
        // Makes room for all of these columns, so that none of their runs is dropped for another one.
        makeRoom(for: 4 * Self.block)
        for column in first..<min(first + Self.block, rows.count) {
            let chroma = Self.index(rows.blue[column], rows.red[column])
            for y in 0..<down {
                let row = (y == 0 ? rows.luma : rows.below) + column * across
                for x in 0..<across {
                    let index = chroma | (Int(row[x]) & Self.codeMask) >> 5
                    if pages[index] == 0, add(index) == Self.together { compute(fill) }
                }
            }
        }
        if isWaiting { compute(fill) }
    }
}
