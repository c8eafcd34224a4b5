package import Adjustments
import Synchronization

/// The colours of a photo that a chain of filters has already computed.
///
/// A photo of millions of pixels has some hundred thousand colours, in bunches: so each is computed once,
/// by the same program in floats that computes any other photo, and looked up from then on. Whatever the
/// chain, a pixel costs the same, and the result is the same to the bit as without the memo.
///
/// A colour of three 8-bit codes a, b, c has a place, by b − a and c − a (which are small in most photos)
/// or, for what JPEG stores, by b and c themselves, and lies in a run of 32 values of a. What is missing
/// is computed a run at a time.
///
/// Measured on 24 MP, one core, sepia: 80 ms by planes of floats, 45 ms by tables of integers made for
/// such filters alone, which this replaced.
///
/// `@unchecked Sendable` is true because ``ColourMemoPool`` lends each memo to one thread at a time.
package final class ColourMemo: @unchecked Sendable {
    /// Values of the first code that are computed together.
    package static let run = 32
    /// Runs that are kept: 8 MB for a word each. When they are full all are forgotten; colours in use are soon back.
    package static let runsMax = 1 << 16
    /// Pixels computed per pixel looked up, above which the memo does not pay: noise.
    private static let waste = 4
    /// Rectangles that are computed without the memo when it has not paid.
    private static let skipped = 16

    /// By place, the number of its run, or 0.
    package let pages: UnsafeMutablePointer<UInt16>
    /// By run, what is made of its colours: ``words`` for each.
    package let results: UnsafeMutablePointer<UInt32>
    /// Words that are kept of a colour.
    package let words: Int
    private static let pageCount = 256 * 256 * 256 / run
    private var runs = 1
    private var made = 0
    private var toSkip = 0

    package init(words: Int = 1) {
        self.words = words
        pages = .allocate(capacity: Self.pageCount)
        pages.initialize(repeating: 0, count: Self.pageCount)
        results = .allocate(capacity: Self.runsMax * Self.run * words)
    }

    deinit {
        pages.deallocate()
        results.deallocate()
    }

    /// Computes the results of a place, ``run`` of them.
    package typealias Fill = (_ place: Int, _ results: UnsafeMutablePointer<UInt32>) -> Void

    /// Whether looking up has been cheaper than computing so far.
    package var isWorthwhile: Bool { toSkip == 0 }

    /// Says that a rectangle was computed without the memo.
    package func skip() { toSkip -= 1 }

    /// Says that so many pixels were looked up, and some of them computed for it.
    package func note(pixels: Int) {
        if made * Self.run > Self.waste * pixels { toSkip = Self.skipped }
        made = 0
    }

    /// Computes the run of a place that has none.
    @inline(never)
    package func make(_ place: Int, _ fill: Fill) -> Int {
        if runs == Self.runsMax {
            pages.update(repeating: 0, count: Self.pageCount)
            runs = 1
        }
        let run = runs
        runs += 1
        made += 1
        fill(place, results + run * Self.run * words)
        pages[place] = UInt16(run)
        return run
    }
}

extension ColourMemo {
    /// Computes `count` colours of three codes each.
    package typealias Compute = (
        _ codes: UnsafeMutablePointer<UInt8>, _ results: UnsafeMutablePointer<UInt8>, _ count: Int
    ) -> Void

    /// Runs over a rectangle of three 8-bit channels. The results' first code is in the lowest byte.
    package func run(_ input: RegionPixels, _ output: RegionPixels, _ compute: Compute) {
        let (pages, results) = (pages, results)
        for row in 0..<output.area.height {
            var from = input.row(row).assumingMemoryBound(to: UInt8.self)
            var to = output.row(row).assumingMemoryBound(to: UInt8.self)
            for _ in 0..<output.area.width {
                let (a, b, c) = (Int(from[1]), Int(from[0]), Int(from[2]))
                let page = ((b &- a) & 255) &<< 11 | ((c &- a) & 255) &<< 3 | a &>> 5
                var run = Int(pages[page])
                if run == 0 { run = make(page) { Self.fill($0, $1, compute) } }
                let result = results[run &<< 5 | a & 31]
                to[0] = UInt8(truncatingIfNeeded: result)
                to[1] = UInt8(truncatingIfNeeded: result &>> 8)
                to[2] = UInt8(truncatingIfNeeded: result &>> 16)
                from += 3
                to += 3
            }
        }
        note(pixels: output.area.width * output.area.height)
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

/// The memos of one chain: one for each of libvips' threads that computes at the time.
package final class ColourMemoPool: Sendable {
    /// What the results of a memo depend on.
    package struct Key: Sendable, Equatable {
        package let filters: [Filter]
        package let source, target: PhotoColour
        /// Whether the codes are JPEG's, and not red, green and blue.
        package let isYCbCr: Bool
        /// Words that are kept of a colour.
        package let words: Int

        /// Makes a key.
        package init(
            filters: [Filter], source: PhotoColour, target: PhotoColour, isYCbCr: Bool = false,
            words: Int = 1
        ) {
            self.filters = filters
            self.source = source
            self.target = target
            self.isYCbCr = isYCbCr
            self.words = words
        }
    }

    private let idle = Mutex<[ColourMemo]>([])
    private let words: Int

    /// Without any memo yet.
    package init(words: Int = 1) { self.words = words }

    /// A memo for the caller alone, until it is put back.
    package func take() -> ColourMemo { idle.withLock { $0.popLast() } ?? ColourMemo(words: words) }

    /// Gives it back.
    package func putBack(_ memo: ColourMemo) { idle.withLock { $0.append(memo) } }

    // A warm child mostly gets one recipe after the other that is the same, for photos of the same kind
    // of colours. One is kept.
    private static let kept = Mutex<(key: Key, pool: ColourMemoPool)?>(nil)

    /// The memos of a chain, as the photo before has left them or empty.
    package static func pool(for key: Key) -> ColourMemoPool {
        kept.withLock { kept in
            if let kept, kept.key == key { return kept.pool }
            let pool = ColourMemoPool(words: key.words)
            kept = (key, pool)
            return pool
        }
    }
}
