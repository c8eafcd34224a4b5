import CMinilab
import Edits
import Glibc
import Synchronization

/// A memo of the colours of a photo or a movie that a chain of filters has already computed.
///
/// A photo of millions of pixels has some hundred thousand colours, in clusters. So each is computed once, by the same
/// floating-point program that computes any other photo, and looked up afterwards. A pixel costs the same for any chain, and the
/// result is bit-identical to the result without the memo.
///
/// A colour of three codes a, b, c has an index, made of b − a and c − a (which are small in most photos) or, for codes of luma and
/// chroma, of b and c themselves. It lies in a run of 32 values of a. Missing colours are computed a run at a time, or several runs.
///
/// Measured on 24 MP, one core, sepia: 80 ms by planes of floats; 45 ms by integer tables built for such filters alone, which this
/// memo replaced. Frames of a movie share most colours: a frame of a noisy pan has 145,000 runs, of which 1,500 are new; a frame of
/// a phone's HLG video has 12,000.
///
/// `@unchecked Sendable` is safe because ``ColourMemoPool`` lends each memo to one thread at a time.
final class ColourMemo<Page: FixedWidthInteger & UnsignedInteger>: @unchecked Sendable {
    /// Values of the first code that are computed together.
    static var run: Int { 32 }
    /// The highest number of computed pixels per looked-up pixel at which the memo pays. Noise exceeds it.
    private static var waste: Int { 4 }
    /// Rectangles that are computed without the memo after it has not paid.
    private static var skipped: Int { 16 }
    private static var hugePage: Int { 2 << 20 }

    /// The number of a run by index, or 0. Only the indices of colours in use take memory.
    let pages: UnsafeMutablePointer<Page>
    /// The results of each run's colours: ``words`` for each colour.
    let results: UnsafeMutablePointer<UInt32>
    /// The index of each run.
    private let used: UnsafeMutablePointer<UInt32>
    /// The most runs that are kept. When they are full, all are dropped; colours in use are soon computed again.
    private let runsMax: Int
    let words: Int
    private var runs = 1
    /// The number of runs at the end that are not computed yet.
    private var waiting = 0
    var isWaiting: Bool { waiting > 0 }
    private var made = 0
    private var toSkip = 0

    /// - Parameter words: words that are kept for each colour.
    init(indices: Int, runsMax: Int, words: Int, hasHugePages: Bool) {
        (self.runsMax, self.words) = (runsMax, words)
        guard let memory = calloc(indices, MemoryLayout<Page>.stride) else {
            fatalError("out of memory: \(indices) indices of colours")
        }
        pages = memory.bindMemory(to: Page.self, capacity: indices)
        let bytes = runsMax * Self.run * words * MemoryLayout<UInt32>.stride
        let start = UnsafeMutableRawPointer.allocate(
            byteCount: bytes, alignment: hasHugePages ? Self.hugePage : 16)
        // Runs are read in random order: 4 KB pages would exceed the processor's TLB. If the advice is refused, the memo is slower
        // but correct.
        if hasHugePages { madvise(start, bytes, MADV_HUGEPAGE) }
        results = start.bindMemory(to: UInt32.self, capacity: runsMax * Self.run * words)
        used = .allocate(capacity: runsMax)
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

    /// Whether lookups have been cheaper than computing so far.
    var isWorthwhile: Bool { toSkip == 0 }

    /// Records that a rectangle was computed without the memo.
    func skip() { toSkip -= 1 }

    /// Records the number of pixels that were looked up, so that it can be compared with those computed for them.
    func note(pixels: Int) {
        if made * Self.run > Self.waste * pixels { toSkip = Self.skipped }
        made = 0
    }

    /// Computes the missing run of an index.
    @inline(never)
    func make(_ index: Int, _ fill: Fill) -> Int {
        makeRoom(for: 1)
        add(index)
        compute(fill)
        return runs - 1
    }

    /// Drops all runs if some more would exceed the most.
    func makeRoom(for count: Int) {
        guard runs + count > runsMax else { return }
        for run in 1..<runs { pages[Int(used[run])] = 0 }
        runs = 1
    }

    /// Assigns a run to an index; ``compute(_:)`` computes it.
    ///
    /// - Returns: the number of runs that wait for that.
    @discardableResult
    func add(_ index: Int) -> Int {
        pages[index] = Page(truncatingIfNeeded: runs)
        used[runs] = UInt32(truncatingIfNeeded: index)
        runs += 1
        made += 1
        waiting += 1
        return waiting
    }

    func compute(_ fill: Fill) {
        let first = runs - waiting
        fill(used + first, waiting, results + first * Self.run * words)
        waiting = 0
    }

    /// Asks for the results of some colours that are about to be looked up, as far as they are there.
    ///
    /// The results of a photo of many colours lie in the outermost cache: each would be waited for while few others
    /// are fetched.
    ///
    /// - Parameter colours: 32 for each index, and the last five bits of a.
    func prefetch(_ colours: UnsafePointer<UInt32>, count: Int) {
        let results = UnsafeRawPointer(results)
        for i in 0..<count {
            let colour = Int(truncatingIfNeeded: colours[i])
            let run = Int(pages[colour &>> 5])
            minilab_prefetch(results + (run &<< 5 | colour & 31) &* (4 &* words))
        }
    }
}

/// The memo of a photo's colours of 8-bit codes: 8 MB for a word each.
typealias ByteMemo = ColourMemo<UInt16>

extension ByteMemo {
    convenience init(words: Int = 1) {
        self.init(
            indices: 256 * 256 * 256 / Self.run, runsMax: 1 << 16, words: words,
            hasHugePages: false)
    }

    /// Computes `count` colours of three codes each.
    typealias Compute = (
        _ codes: UnsafeMutablePointer<UInt8>, _ results: UnsafeMutablePointer<UInt8>, _ count: Int
    ) -> Void

    /// Pixels that are looked up together: first where their results are, then these. The first loop waits for nothing
    /// that the second one needs, so many results are fetched at a time: 2.7 → 1.9 ns a pixel.
    private static var block: Int { 256 }

    /// Runs over a rectangle of three 8-bit channels. The results' first code is in the lowest byte.
    func run(_ input: RegionPixels, _ output: RegionPixels, _ compute: Compute) {
        let width = output.area.width
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: Self.block) { memory in
            guard let resultIndices = memory.baseAddress else { return }
            for row in 0..<output.area.height {
                let from = input.row(row).assumingMemoryBound(to: UInt8.self)
                let to = output.row(row).assumingMemoryBound(to: UInt8.self)
                for left in stride(from: 0, to: width, by: Self.block) {
                    let count = min(Self.block, width - left)
                    find(from + 3 * left, count, into: resultIndices, compute)
                    copy(resultIndices, count, into: to + 3 * left)
                }
            }
        }
        note(pixels: width * output.area.height)
    }

    /// Finds where the results of some pixels are, and computes what is missing.
    @inline(__always)
    private func find(
        _ pixels: UnsafePointer<UInt8>, _ count: Int,
        into resultIndices: UnsafeMutablePointer<Int32>,
        _ compute: Compute
    ) {
        // A result must not be dropped between its lookup and its use.
        makeRoom(for: count)
        let pages = pages
        var pixel = pixels
        for i in 0..<count {
            let (a, b, c) = (Int(pixel[1]), Int(pixel[0]), Int(pixel[2]))
            let page = ((b &- a) & 255) &<< 11 | ((c &- a) & 255) &<< 3 | a &>> 5
            var run = Int(pages[page])
            if run == 0 { run = make(page) { Self.fill(Int($0[0]), $2, compute) } }
            resultIndices[i] = Int32(truncatingIfNeeded: run &<< 5 | a & 31)
            pixel += 3
        }
    }

    /// Writes the results of some pixels.
    @inline(__always)
    private func copy(
        _ resultIndices: UnsafePointer<Int32>, _ count: Int,
        into pixels: UnsafeMutablePointer<UInt8>
    ) {
        let results = results
        var pixel = pixels
        // Words of four bytes, of which the next pixel writes over the last.
        for i in 0..<count &- 1 {
            UnsafeMutableRawPointer(pixel).storeBytes(
                of: results[Int(resultIndices[i])], as: UInt32.self)
            pixel += 3
        }
        let last = results[Int(resultIndices[count &- 1])]
        pixel[0] = UInt8(truncatingIfNeeded: last)
        pixel[1] = UInt8(truncatingIfNeeded: last &>> 8)
        pixel[2] = UInt8(truncatingIfNeeded: last &>> 16)
    }

    private static func fill(
        _ page: Int, _ results: UnsafeMutablePointer<UInt32>, _ compute: Compute
    ) {
        let (first, second, start) = (page >> 11, page >> 3 & 255, (page & 7) * run)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 6 * run) { bytes in
            guard let codes = bytes.baseAddress else { return }
            for i in 0..<run {
                let a = start + i
                codes[3 * i] = UInt8(truncatingIfNeeded: a + first)
                codes[3 * i + 1] = UInt8(truncatingIfNeeded: a)
                codes[3 * i + 2] = UInt8(truncatingIfNeeded: a + second)
            }
            let made = codes + 3 * run
            compute(codes, made, run)
            for i in 0..<run {
                results[i] =
                    UInt32(made[3 * i]) | UInt32(made[3 * i + 1]) << 8
                    | UInt32(made[3 * i + 2]) << 16
            }
        }
    }
}

/// The memos of one chain: one for each thread of libvips that is computing.
final class ColourMemoPool: Sendable {
    /// The properties on which the results of a memo depend.
    struct Key: Sendable, Equatable {
        let filters: [Filter]
        let source, target: PhotoColour
        /// Whether the codes are JPEG's YCbCr, and not red, green and blue.
        var isYCbCr = false
        /// Words that are kept for each colour.
        var words = 1
    }

    private let idle = Mutex<[ByteMemo]>([])
    private let words: Int

    init(words: Int = 1) { self.words = words }

    /// Returns a memo for exclusive use until it is put back.
    func acquire() -> ByteMemo {
        idle.withLock { $0.popLast() } ?? ByteMemo(words: words)
    }

    func release(_ memo: ByteMemo) { idle.withLock { $0.append(memo) } }

    // A warm child usually renders the same recipe again, for photos with similar colours. The memos of one recipe are kept.
    private static let kept = Mutex<(key: Key, pool: ColourMemoPool)?>(nil)

    /// Returns the memos of a chain, filled by the previous photo or empty.
    static func pool(for key: Key) -> ColourMemoPool {
        kept.withLock { kept in
            if let kept, kept.key == key { return kept.pool }
            let pool = ColourMemoPool(words: key.words)
            kept = (key, pool)
            return pool
        }
    }
}
