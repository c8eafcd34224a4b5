import Glibc

/// The colours of 10 bits that a movie's filters have already computed: what ``ColourMemo`` is for 8.
///
/// A colour of luma and two chromas has a place by its chromas and the highest bits of luma; a place has a run of 32 values of
/// luma, computed together. Frames of a movie have most colours in common: of a pan with noise a frame has 145,000 runs, of which 1,500 are new; of a
/// phone's HLG 12,000. Not for several threads at once.
final class DeepColourMemo {
    /// Values of luma that are computed together.
    static let run = 32
    /// Runs that are kept: 32 MB. When they are full all are forgotten; colours in use are soon back.
    static let runsMax = 1 << 18
    /// Places: addresses of 128 MB, and memory behind those that a movie has.
    private static let places = 1 << 25
    /// Columns whose missing runs are made together.
    private static let block = 64
    /// Pixels computed per pixel looked up, above which the memo does not pay: noise.
    private static let waste = 4
    /// Bands that are computed without the memo when it has not paid.
    private static let skipped = 16
    private static let codeMask = 1023

    /// By place, the number of its run, or 0.
    private let pages: UnsafeMutablePointer<UInt32>
    /// By run, its colours; see ``DeepColour``.
    private let results: UnsafeMutablePointer<UInt32>
    /// By run, its place.
    private let used: UnsafeMutablePointer<UInt32>
    private var runs = 1
    private var made = 0
    /// Of the runs, how many of the last are not computed yet.
    private var waiting = 0
    private var toSkip = 0

    private static let hugePage = 2 << 20

    init() {
        let bytes = Self.places * MemoryLayout<UInt32>.stride
        guard let memory = calloc(bytes, 1) else {
            fatalError("out of memory: \(bytes) bytes for the places of colours")
        }
        pages = memory.bindMemory(to: UInt32.self, capacity: Self.places)
        let resultBytes = Self.runsMax * Self.run * MemoryLayout<UInt32>.stride
        let start = UnsafeMutableRawPointer.allocate(
            byteCount: resultBytes, alignment: Self.hugePage)
        // Runs are read in any order: pages of 4 KB would be more than a processor finds at once. Without them it is slower, and right.
        madvise(start, resultBytes, MADV_HUGEPAGE)
        results = start.bindMemory(to: UInt32.self, capacity: Self.runsMax * Self.run)
        used = .allocate(capacity: Self.runsMax)
    }

    deinit {
        free(pages)
        UnsafeMutableRawPointer(results).deallocate()
        used.deallocate()
    }

    /// Computes the results of some places, ``run`` of each, one behind the other.
    typealias Fill = (
        _ places: UnsafePointer<UInt32>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) -> Void
    /// Places whose runs are computed together.
    static let together = 8

    /// Whether looking up has been cheaper than computing so far.
    var isWorthwhile: Bool { toSkip == 0 }

    /// Says that a band was computed without the memo.
    func skip() { toSkip -= 1 }

    /// Says that so many pixels were looked up, and some of them computed for it.
    func note(pixels: Int) {
        if made * Self.run > Self.waste * pixels { toSkip = Self.skipped }
        made = 0
    }

    /// The place of a chroma with luma 0. Chromas that a picture has together lie together: 8 × 8 of them in two pages of memory.
    @inline(__always)
    private static func place(_ blue: UInt16, _ red: UInt16) -> Int {
        let (b, r) = (Int(blue) & codeMask, Int(red) & codeMask)
        return (b & 0x3F8) &<< 15 | (r & 0x3F8) &<< 8 | (b & 7) &<< 8 | (r & 7) &<< 5
    }

    /// Chroma and first luma of a place.
    static func codes(of place: Int) -> (blue: Int, red: Int, luma: Int) {
        (
            place >> 15 & 0x3F8 | place >> 8 & 7, place >> 8 & 0x3F8 | place >> 5 & 7,
            (place & 31) << 5
        )
    }

    /// Edits a row of chroma and the luma that shares it.
    ///
    /// Each sample of luma looks up its own run, without asking whether it is its neighbour's: a branch that cannot be foretold takes longer than
    /// four look-ups.
    ///
    /// - Parameters:
    ///   - across, down: samples of luma to a sample of chroma. Literals: the loops are unrolled.
    ///   - shift: the binary logarithm of across × down.
    @inline(__always)
    func edit(_ rows: DeepRows, across: Int, down: Int, shift: UInt32, _ fill: Fill) {
        let (pages, results) = (pages, results)
        for column in 0..<rows.count {
            let chroma = Self.place(rows.blue[column], rows.red[column])
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

    /// Computes the runs that a column has not, and with them those that the next columns have not.
    @inline(never)
    private func make(
        _ rows: DeepRows, from first: Int, across: Int, down: Int, _ fill: Fill
    ) {
        // All of these columns have room: none of their runs is forgotten for another one.
        if runs + 4 * Self.block > Self.runsMax {
            for run in 1..<runs { pages[Int(used[run])] = 0 }
            runs = 1
        }
        for column in first..<min(first + Self.block, rows.count) {
            let chroma = Self.place(rows.blue[column], rows.red[column])
            for y in 0..<down {
                let row = (y == 0 ? rows.luma : rows.below) + column * across
                for x in 0..<across {
                    let place = chroma | (Int(row[x]) & Self.codeMask) >> 5
                    if pages[place] == 0 { add(place, fill) }
                }
            }
        }
        if waiting > 0 { compute(fill) }
    }

    /// Gives a place a run, which is computed with those of others.
    private func add(_ place: Int, _ fill: Fill) {
        pages[place] = UInt32(truncatingIfNeeded: runs)
        used[runs] = UInt32(truncatingIfNeeded: place)
        runs += 1
        made += 1
        waiting += 1
        if waiting == Self.together { compute(fill) }
    }

    /// Computes the last runs, which wait for it.
    private func compute(_ fill: Fill) {
        let first = runs - waiting
        fill(used + first, waiting, results + first * Self.run)
        waiting = 0
    }
}
