import CPrefetch
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
    /// Columns whose runs are asked for before the first is read.
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
    /// A block's runs are asked for before its first colour is read: they lie anywhere in some tens of megabytes.
    ///
    /// - Parameters:
    ///   - across, down: samples of luma to a sample of chroma. Literals: the loops are unrolled.
    ///   - shift: the binary logarithm of across × down.
    @inline(__always)
    func edit(_ rows: DeepRows, across: Int, down: Int, shift: UInt32, _ fill: Fill) {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 4 * Self.block) { memory in
            guard let lines = memory.baseAddress else { return }
            var start = 0
            while start < rows.count {
                let columns = start..<min(start &+ Self.block, rows.count)
                ask(rows, columns, across: across, down: down, lines, fill)
                for column in columns {
                    edit(
                        rows, column, lines[4 &* (column &- start)] &>> 1, across: across,
                        down: down, shift: shift, fill)
                }
                start = columns.upperBound
            }
        }
    }

    /// Has the colours of some columns fetched whose runs are there, and the others computed.
    ///
    /// - Parameter lines: becomes four of each column: twice the place, and one more for the second half of a run, which are 64 bytes each.
    @inline(__always)
    private func ask(
        _ rows: DeepRows, _ columns: Range<Int>, across: Int, down: Int,
        _ lines: UnsafeMutablePointer<Int>, _ fill: Fill
    ) {
        var next = lines
        for column in columns {
            let chroma = Self.place(rows.blue[column], rows.red[column]) &<< 1
            let start = column &* across
            @inline(__always) func line(_ row: UnsafePointer<UInt16>, _ x: Int) -> Int {
                chroma | (Int(row[start &+ x]) & Self.codeMask) &>> 4
            }
            next[0] = line(rows.luma, 0)
            next[1] = across == 2 ? line(rows.luma, 1) : next[0]
            next[2] = down == 2 ? line(rows.below, 0) : next[0]
            next[3] = across == 2 && down == 2 ? line(rows.below, 1) : next[0]
            minilab_prefetch(pages + next[0] &>> 1)
            next += 4
        }
        next = lines
        for _ in columns {
            let (first, second, third, fourth) = (next[0], next[1], next[2], next[3])
            ask(first, fill)
            if second != first { ask(second, fill) }
            if third != first { ask(third, fill) }
            if fourth != first { ask(fourth, fill) }
            next += 4
        }
        if waiting > 0 { compute(fill) }
    }

    @inline(__always)
    private func ask(_ line: Int, _ fill: Fill) {
        let place = line &>> 1
        let run = Int(pages[place])
        guard run > 0 else { return add(place, fill) }
        minilab_prefetch(results + (run &<< 5 | (line & 1) &<< 4))
    }

    @inline(__always)
    private func edit(
        _ rows: DeepRows, _ column: Int, _ place: Int, across: Int, down: Int, shift: UInt32,
        _ fill: Fill
    ) {
        let start = column &* across
        let (above, below) = (rows.luma + start, rows.below + start)
        let first = Int(above[0]) & Self.codeMask
        let second = across == 2 ? Int(above[1]) & Self.codeMask : first
        let third = down == 2 ? Int(below[0]) & Self.codeMask : first
        let fourth = down == 2 && across == 2 ? Int(below[1]) & Self.codeMask : first
        let isOneRun = (first ^ second) | (first ^ third) | (first ^ fourth) < Self.run
        var run = Int(pages[place])
        if run == 0 { run = make(place, fill) }
        let chroma = place & ~31
        var (blue, red): (UInt32, UInt32) = (0, 0)
        for y in 0..<down {
            let target = (y == 0 ? rows.newLuma : rows.newBelow) + start
            for x in 0..<across {
                let code = y == 0 ? (x == 0 ? first : second) : (x == 0 ? third : fourth)
                if !isOneRun {
                    let place = chroma | code &>> 5
                    run = Int(pages[place])
                    if run == 0 { run = make(place, fill) }
                }
                let result = results[run &<< 5 | code & 31]
                target[x] = DeepColour.luma(result)
                blue &+= DeepColour.blue(result)
                red &+= DeepColour.red(result)
            }
        }
        rows.newBlue[column] = DeepColour.mean(blue, shift: shift)
        rows.newRed[column] = DeepColour.mean(red, shift: shift)
    }

    /// Computes the run of a place that has none.
    @inline(never)
    private func make(_ place: Int, _ fill: Fill) -> Int {
        add(place, fill)
        if waiting > 0 { compute(fill) }
        return Int(pages[place])
    }

    /// Gives a place a run, which is computed with those of others.
    @inline(never)
    private func add(_ place: Int, _ fill: Fill) {
        if runs == Self.runsMax {
            if waiting > 0 { compute(fill) }
            for run in 1..<runs { pages[Int(used[run])] = 0 }
            runs = 1
        }
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
