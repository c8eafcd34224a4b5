import Codecs
import Edits
import Filters
import RenderProtocol

/// Consecutive per-pixel filters over 8-bit planes of a JPEG or of a movie's frame: YCbCr codes in, YCbCr codes out, without
/// upsampling and without an RGB picture.
///
/// Each luma sample, with the chroma sample that it shares, is a colour. The colour is converted to red, green and blue by its
/// ``PlaneEquations``, passes through the filters, and is converted back, without rounding in between. A chroma sample of the
/// result is the mean over the luma samples that share it.
struct PlaneProgram {
    let filters: [any PixelFilter]
    let colour: PlaneColour
    private let memos: ColourMemoPool
    let vignette: PlaneVignette?

    static let chromas: Set = ["4:4:4", "4:2:2", "4:4:0", "4:2:0"]

    /// Prepares the pass for a JPEG. Its tables are built when this returns.
    ///
    /// - Parameters:
    ///   - filters: none uses its position, except that the last one may be a ``RadialGain``.
    ///   - chain: the filters with the recipe's names, the key under which colours are kept from photo to photo.
    init(filters: [any PixelFilter], colour: PhotoColour, chain: [Filter]) {
        let last = filters.last as? any RadialGain
        self.init(
            filters: filters, colour: PlaneColour(colour), centre: last?.centre ?? (0, 0),
            memos: .pool(
                for: .init(
                    filters: last == nil ? chain : chain.dropLast(), source: colour, target: colour,
                    isYCbCr: true, words: Self.words(filters))))
    }

    /// Prepares the pass for planes whose colours are kept as long as the program.
    ///
    /// - Parameters:
    ///   - filters: as above.
    ///   - centre: the centre of a ``RadialGain`` in the stored picture, from the left and from the bottom.
    init(
        filters: [any PixelFilter], colour: PlaneColour, centre: (x: Double, y: Double) = (0, 0),
        memos: ColourMemoPool? = nil
    ) {
        let last = filters.last as? any RadialGain
        vignette = last.map { PlaneVignette($0, at: centre, colour) }
        self.filters = last == nil ? filters : filters.dropLast()
        self.colour = colour
        self.memos = memos ?? ColourMemoPool(words: Self.words(filters))
    }

    private static func words(_ filters: [any PixelFilter]) -> Int {
        filters.last is any RadialGain ? PlaneVignette.words : 1
    }

    /// Some rows of planes, which are overwritten.
    struct Band {
        let luma, blue, red: UnsafeMutablePointer<UInt8>
        let lumaStride, chromaStride: Int
        /// Samples in a row of chroma, and rows of chroma. All the luma that shares them is present.
        let columns: Int, rows: Int
        /// Samples of luma to a sample of chroma: 1 or 2.
        let across, down: Int
        /// The distance of the upper edge from the bottom of the picture, in pixels.
        let top: Int
    }

    /// Replaces the samples of a row of MCUs. The samples beyond the photo's edges must be filled.
    ///
    /// - Parameters:
    ///   - mcuRow: the row in these planes.
    ///   - photoRow: the row of MCUs in the photo.
    func run(_ planes: JPEGPlanes, mcuRow: Int, photoRow: Int) {
        let luma = planes.planes[0], blue = planes.planes[1], red = planes.planes[2]
        run(
            Band(
                luma: luma.row(0, of: mcuRow), blue: blue.row(0, of: mcuRow),
                red: red.row(0, of: mcuRow), lumaStride: luma.stride, chromaStride: blue.stride,
                columns: blue.stride, rows: blue.mcuHeight, across: luma.stride / blue.stride,
                down: luma.mcuHeight / blue.mcuHeight,
                top: planes.layout.height - photoRow * luma.mcuHeight))
    }

    func run(_ band: Band) {
        let memo = memos.acquire()
        let isLookedUp = memo.isWorthwhile
        for row in 0..<band.rows {
            let luma = band.luma + row * band.down * band.lumaStride
            let rows = Rows(
                luma: luma, below: luma + band.lumaStride,
                blue: band.blue + row * band.chromaStride,
                red: band.red + row * band.chromaStride, count: band.columns, across: band.across,
                down: band.down)
            if let vignette {
                run(
                    rows, vignette, in: isLookedUp ? memo : nil,
                    y: Double(band.top - row * band.down) - Double(band.down) / 2)
            } else if isLookedUp {
                lookUp(rows, in: memo)
            } else {
                compute(rows)
            }
        }
        if isLookedUp {
            memo.note(pixels: band.columns * band.across * band.rows * band.down)
        } else {
            memo.skip()
        }
        memos.release(memo)
        TestPoint.midRender.reach()
    }

    /// A row of chroma and the luma that shares it.
    struct Rows {
        let luma, below, blue, red: UnsafeMutablePointer<UInt8>
        let count: Int
        /// Samples of luma to a sample of chroma.
        let across, down: Int
    }

    private func fill(_ index: Int, _ results: UnsafeMutablePointer<UInt32>) {
        let first = ColourMemo.codes(of: index)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * ColourMemo.run) { bytes in
            guard let luma = bytes.baseAddress else { return }
            for i in 0..<ColourMemo.run {
                luma[i] = first.luma + UInt8(i)
                luma[i + ColourMemo.run] = first.blue
                luma[i + 2 * ColourMemo.run] = first.red
            }
            compute(luma, plane: ColourMemo.run, count: ColourMemo.run, into: results)
        }
    }

    private func run(
        _ rows: Rows, _ vignette: PlaneVignette, in memo: ColourMemo?, y: Double
    ) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: rows.count) { memory in
            guard let gains = memory.baseAddress else { return }
            vignette.fill(gains, count: rows.count, across: rows.across, y: y)
            guard let memo else { return compute(rows, vignette, gains) }
            if vignette.isExtended {
                replace(rows, vignette, gains, in: memo, isExtended: true)
            } else {
                replace(rows, vignette, gains, in: memo, isExtended: false)
            }
        }
    }

    @inline(__always)
    private func replace(
        _ rows: Rows, _ vignette: PlaneVignette, _ gains: UnsafePointer<UInt64>,
        in memo: ColourMemo, isExtended: Bool
    ) {
        switch (rows.across, rows.down) {
        case (2, 2):
            vignette.replace(
                rows, across: 2, down: 2, shift: 2, isExtended: isExtended, gains: gains,
                in: memo, fill)
        case (2, 1):
            vignette.replace(
                rows, across: 2, down: 1, shift: 1, isExtended: isExtended, gains: gains,
                in: memo, fill)
        case (1, 2):
            vignette.replace(
                rows, across: 1, down: 2, shift: 1, isExtended: isExtended, gains: gains,
                in: memo, fill)
        default:
            vignette.replace(
                rows, across: 1, down: 1, shift: 0, isExtended: isExtended, gains: gains,
                in: memo, fill)
        }
    }

    private func lookUp(_ rows: Rows, in memo: ColourMemo) {
        switch (rows.across, rows.down) {
        case (2, 2): memo.replace(rows, across: 2, down: 2, shift: 2, fill)
        case (2, 1): memo.replace(rows, across: 2, down: 1, shift: 1, fill)
        case (1, 2): memo.replace(rows, across: 1, down: 2, shift: 1, fill)
        default: memo.replace(rows, across: 1, down: 1, shift: 0, fill)
        }
    }
}

extension PlaneProgram {
    /// Computes rows in chunks, without the memo.
    func compute(_ rows: Rows) {
        let shift = UInt32((rows.across * rows.down).trailingZeroBitCount)
        computeInChunks(rows, words: 1) { results, start, count in
            visit(rows, from: start, count: count) { i, luma, _ in
                luma.pointee = PackedColour.luma(results[i])
            }
            let size = 1 << Int(shift)
            for column in 0..<count {
                var sum: UInt32 = 0
                for i in column * size..<(column + 1) * size { sum &+= results[i] }
                rows.blue[start + column] = PackedColour.meanBlue(sum, shift: shift)
                rows.red[start + column] = PackedColour.meanRed(sum, shift: shift)
            }
        }
    }

    /// Computes rows in chunks, without the memo, with a vignette.
    func compute(_ rows: Rows, _ vignette: PlaneVignette, _ gains: UnsafePointer<UInt64>) {
        let shift = (rows.across * rows.down).trailingZeroBitCount
        let chroma = vignette.chroma(shift: shift)
        computeInChunks(rows, words: PlaneVignette.words) { results, start, count in
            var total: UInt64 = 0
            visit(rows, from: start, count: count) { i, luma, column in
                let result = vignette.result(
                    results + i * PlaneVignette.words, gain: gains[column])
                luma.pointee = PlaneVignette.luma(of: result, isExtended: vignette.isExtended)
                total &+= result
                guard (i + 1).isMultiple(of: 1 << shift) else { return }
                (rows.blue[column], rows.red[column]) = chroma.codes(of: total)
                total = 0
            }
        }
    }

    /// Computes the colours of a row, chunk by chunk.
    ///
    /// - Parameters:
    ///   - words: words of a result.
    ///   - store: writes the results of `count` chroma samples from `start` on into the planes.
    private func computeInChunks(
        _ rows: Rows, words: Int,
        _ store: (_ results: UnsafePointer<UInt32>, _ start: Int, _ count: Int) -> Void
    ) {
        let size = rows.across * rows.down
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * capacity) { bytes in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: words * capacity) { packed in
                guard let codes = bytes.baseAddress, let results = packed.baseAddress else {
                    return
                }
                for start in stride(from: 0, to: rows.count, by: capacity / size) {
                    let count = min(capacity / size, rows.count - start)
                    visit(rows, from: start, count: count) { i, luma, column in
                        codes[i] = luma.pointee
                        codes[i + capacity] = rows.blue[column]
                        codes[i + 2 * capacity] = rows.red[column]
                    }
                    compute(codes, plane: capacity, count: count * size, into: results)
                    store(results, start, count)
                }
            }
        }
    }

    /// Iterates over the luma samples of some chroma samples, those of one chroma sample after those of the other.
    @inline(__always)
    private func visit(
        _ rows: Rows, from start: Int, count: Int,
        _ body: (_ index: Int, _ luma: UnsafeMutablePointer<UInt8>, _ column: Int) -> Void
    ) {
        var index = 0
        for column in start..<start + count {
            for y in 0..<rows.down {
                for x in 0..<rows.across {
                    let row = y == 0 ? rows.luma : rows.below
                    body(index, row + column * rows.across + x, column)
                    index += 1
                }
            }
        }
    }

    /// Computes colours: `count` lumas. Their blue and red chromas follow at distances of one `plane` and two.
    func compute(
        _ luma: UnsafePointer<UInt8>, plane: Int, count: Int,
        into results: UnsafeMutablePointer<UInt32>
    ) {
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * capacity) { floats in
            guard let memory = floats.baseAddress else { return }
            let alpha = memory + 3 * capacity
            alpha.update(repeating: 1, count: count)
            let chunk = PixelChunk(
                count: count, red: memory, green: memory + capacity, blue: memory + 2 * capacity,
                alpha: alpha)
            read(luma, luma + plane, luma + 2 * plane, into: chunk)
            let channels = [chunk.red, chunk.green, chunk.blue]
            for (channel, plane) in channels.enumerated() {
                colour.curves.decode(plane, channel: channel, count: count)
            }
            if let toWorking = colour.toWorking { chunk.multiply(by: toWorking) }
            chunk.run(filters)
            if let fromWorking = colour.fromWorking { chunk.multiply(by: fromWorking) }
            if let vignette { return vignette.pack(chunk, into: results) }
            for (channel, plane) in channels.enumerated() {
                colour.curves.encode(plane, channel: channel, count: count)
            }
            pack(chunk, into: results)
        }
    }

    private func read(
        _ luma: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>,
        into chunk: PixelChunk
    ) {
        let equations = colour.equations
        let (least, most) = (colour.curves.codesMin, colour.curves.codesMax)
        @inline(__always) func clamped(_ code: Float) -> Float {
            let above = code > least ? code : least
            return above < most ? above : most
        }
        for i in 0..<chunk.count {
            let y = (Float(luma[i]) - equations.black) * equations.scale
            let (b, r) = (Float(blue[i]) - equations.zero, Float(red[i]) - equations.zero)
            chunk.red[i] = clamped(y + equations.redByRed * r)
            chunk.green[i] = clamped(y - equations.greenByBlue * b - equations.greenByRed * r)
            chunk.blue[i] = clamped(y + equations.blueByBlue * b)
        }
    }

    private func pack(_ chunk: PixelChunk, into results: UnsafeMutablePointer<UInt32>) {
        let equations = colour.equations
        for i in 0..<chunk.count {
            let (r, g, b) = (chunk.red[i], chunk.green[i], chunk.blue[i])
            let y = equations.red * r + equations.green * g + equations.blue * b
            results[i] = PackedColour.pack(
                luma: y * equations.lumaCodes + equations.black,
                blue: (b - y) * equations.blueCodes + equations.zero,
                red: (r - y) * equations.redCodes + equations.zero)
        }
    }
}
