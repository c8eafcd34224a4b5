import Glibc

/// A memo of the 10-bit colours that a movie's filters have already computed: the counterpart of ``ColourMemo`` for 8 bits.
///
/// A colour of luma and two chromas has an index, made of its chromas and the highest bits of luma. An index has a run of 32 values
/// of luma, which are computed together. Frames of a movie share most colours: a frame of a noisy pan has 145,000 runs, of which
/// 1,500 are new; a frame of a phone's HLG video has 12,000. Not thread-safe.
final class DeepColourMemo {
    static let run = 32
    /// The most runs that are kept: 32 MB. When they are full, all are dropped; colours in use are soon computed again.
    static let runsMax = 1 << 18
    /// Indices: 128 MB of address space, of which only the indices of the movie's colours take memory.
    private static let indexCount = 1 << 25
    /// Columns whose missing runs are computed together.
    private static let block = 64
    /// The highest number of computed pixels per looked-up pixel at which the memo pays. Noise exceeds it.
    private static let waste = 4
    /// Bands that are computed without the memo after it has not paid.
    private static let skipped = 16
    private static let codeMask = 1023

    /// The number of a run by index, or 0.
    private let pages: UnsafeMutablePointer<UInt32>
    /// The colours of each run; see ``DeepColour``.
    private let results: UnsafeMutablePointer<UInt32>
    private let used: UnsafeMutablePointer<UInt32>
    private var runs = 1
    private var made = 0
    /// The number of runs at the end that are not computed yet.
    private var waiting = 0
    private var toSkip = 0

    private static let hugePage = 2 << 20

    init() {
        let bytes = Self.indexCount * MemoryLayout<UInt32>.stride
        guard let memory = calloc(bytes, 1) else {
            fatalError("out of memory: \(bytes) bytes for the indices of colours")
        }
        pages = memory.bindMemory(to: UInt32.self, capacity: Self.indexCount)
        let resultBytes = Self.runsMax * Self.run * MemoryLayout<UInt32>.stride
        let start = UnsafeMutableRawPointer.allocate(
            byteCount: resultBytes, alignment: Self.hugePage)
        // Runs are read in random order: 4 KB pages would exceed the processor's TLB. If the advice is refused, the memo is slower
        // but correct.
        madvise(start, resultBytes, MADV_HUGEPAGE)
        results = start.bindMemory(to: UInt32.self, capacity: Self.runsMax * Self.run)
        used = .allocate(capacity: Self.runsMax)
    }

    deinit {
        free(pages)
        UnsafeMutableRawPointer(results).deallocate()
        used.deallocate()
    }

    /// Computes the results of some indices, ``run`` of each, one after another.
    typealias Fill = (
        _ indices: UnsafePointer<UInt32>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) -> Void
    static let together = 8

    /// Whether lookups have been cheaper than computing so far.
    var isWorthwhile: Bool { toSkip == 0 }

    /// Records that a band was computed without the memo.
    func skip() { toSkip -= 1 }

    /// Records the number of pixels that were looked up, so that it can be compared with those computed for them.
    func note(pixels: Int) {
        if made * Self.run > Self.waste * pixels { toSkip = Self.skipped }
        made = 0
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
    ///
    /// - Parameters:
    ///   - across, down: samples of luma to a sample of chroma. Literals: the loops are unrolled.
    ///   - shift: the binary logarithm of across × down.
    @inline(__always)
    func edit(_ rows: DeepRows, across: Int, down: Int, shift: UInt32, _ fill: Fill) {
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
        _ rows: DeepRows, from first: Int, across: Int, down: Int, _ fill: Fill
    ) {
        // Makes room for all of these columns, so that none of their runs is dropped for another one.
        if runs + 4 * Self.block > Self.runsMax {
            for run in 1..<runs { pages[Int(used[run])] = 0 }
            runs = 1
        }
        for column in first..<min(first + Self.block, rows.count) {
            let chroma = Self.index(rows.blue[column], rows.red[column])
            for y in 0..<down {
                let row = (y == 0 ? rows.luma : rows.below) + column * across
                for x in 0..<across {
                    let index = chroma | (Int(row[x]) & Self.codeMask) >> 5
                    if pages[index] == 0 { add(index, fill) }
                }
            }
        }
        if waiting > 0 { compute(fill) }
    }

    /// Assigns a run to an index. The run is computed together with others.
    private func add(_ index: Int, _ fill: Fill) {
        pages[index] = UInt32(truncatingIfNeeded: runs)
        used[runs] = UInt32(truncatingIfNeeded: index)
        runs += 1
        made += 1
        waiting += 1
        if waiting == Self.together { compute(fill) }
    }

    private func compute(_ fill: Fill) {
        let first = runs - waiting
        fill(used + first, waiting, results + first * Self.run)
        waiting = 0
    }
}
