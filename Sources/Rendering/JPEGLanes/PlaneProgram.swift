import Codecs
import Edits
import Filters
import RenderProtocol

/// Consecutive per-pixel filters over 8-bit planes of a JPEG or of a movie's frame: YCbCr codes in, YCbCr codes out, without
/// upsampling and without an RGB picture. ``DeepPlaneProgram`` is the same for 10 bits.
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

    /// Replaces the samples of a row of MCUs. The samples beyond the photo's edges must be filled.
    ///
    /// - Parameters:
    ///   - mcuRow: the row in these planes.
    ///   - photoRow: the row of MCUs in the photo.
    func run(_ planes: JPEGPlanes, mcuRow: Int, photoRow: Int) {
        let luma = planes.planes[0], blue = planes.planes[1], red = planes.planes[2]
        let (across, down) = (luma.stride / blue.stride, luma.mcuHeight / blue.mcuHeight)
        run(0..<blue.mcuHeight, top: planes.layout.height - photoRow * luma.mcuHeight) { row in
            PlaneRows(
                inPlace: luma.row(row * down, of: mcuRow), stride: luma.stride,
                blue: blue.row(row, of: mcuRow), red: red.row(row, of: mcuRow),
                count: blue.stride, across: across, down: down)
        }
    }

    /// Replaces the samples of some rows of chroma and the luma that shares them.
    ///
    /// - Parameters:
    ///   - top: the distance of the first row's upper edge from the bottom of the picture, in pixels.
    ///   - rows: returns a row by its number.
    func run(_ numbers: Range<Int>, top: Int, _ rows: (Int) -> PlaneRows<UInt8>) {
        let memo = memos.acquire()
        let isLookedUp = memo.isWorthwhile
        var (pixels, top) = (0, top)
        for number in numbers {
            let rows = rows(number)
            if let vignette {
                run(
                    rows, vignette, in: isLookedUp ? memo : nil,
                    y: Double(top) - Double(rows.down) / 2)
            } else if isLookedUp {
                memo.replace(rows, fill)
            } else {
                rows.compute(as: ByteColour.self, compute)
            }
            pixels += rows.count * rows.size
            top -= rows.down
        }
        if isLookedUp { memo.note(pixels: pixels) } else { memo.skip() }
        memos.release(memo)
        TestPoint.midRender.reach()
    }

    private func fill(
        _ indices: UnsafePointer<UInt32>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) {
        let words = vignette == nil ? 1 : PlaneVignette.words
        PlaneCodes<UInt8>.with(ByteMemo.run) { codes in
            for number in 0..<count {
                let first = ByteMemo.codes(of: Int(indices[number]))
                for i in 0..<ByteMemo.run {
                    codes.set(i, first.luma + UInt8(i), first.blue, first.red)
                }
                compute(codes, ByteMemo.run, results + number * ByteMemo.run * words)
            }
        }
    }

    private func run(
        _ rows: PlaneRows<UInt8>, _ vignette: PlaneVignette, in memo: ByteMemo?, y: Double
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
        _ rows: PlaneRows<UInt8>, _ vignette: PlaneVignette, _ gains: UnsafePointer<UInt64>,
        in memo: ByteMemo, isExtended: Bool
    ) {
        rows.unrolled { across, down, shift in
            vignette.replace(
                rows, across: across, down: down, shift: Int(shift), isExtended: isExtended,
                gains: gains, in: memo, fill)
        }
    }

    /// Computes rows in chunks, without the memo, with a vignette.
    private func compute(
        _ rows: PlaneRows<UInt8>, _ vignette: PlaneVignette, _ gains: UnsafePointer<UInt64>
    ) {
        let shift = rows.size.trailingZeroBitCount
        let chroma = vignette.chroma(shift: shift)
        rows.compute(words: PlaneVignette.words, compute) { results, columns in
            var total: UInt64 = 0
            rows.visit(columns) { i, x, isBelow, column in
                let result = vignette.result(
                    results + i * PlaneVignette.words, gain: gains[column])
                (isBelow ? rows.newBelow : rows.newLuma)[x] =
                    PlaneVignette.luma(of: result, isExtended: vignette.isExtended)
                total &+= result
                guard (i + 1).isMultiple(of: 1 << shift) else { return }
                (rows.newBlue[column], rows.newRed[column]) = chroma.codes(of: total)
                total = 0
            }
        }
    }

    private func compute(
        _ codes: PlaneCodes<UInt8>, _ count: Int, _ results: UnsafeMutablePointer<UInt32>
    ) {
        LightChunk.with { memory in
            let chunk = memory.chunk(count)
            chunk.alpha.update(repeating: 1, count: count)
            read(codes, into: chunk)
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
            colour.equations.pack(chunk, as: ByteColour.self, into: results)
        }
    }

    private func read(_ codes: PlaneCodes<UInt8>, into chunk: PixelChunk) {
        let equations = colour.equations
        let (luma, blue, red) = (codes.luma, codes.blue, codes.red)
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
}
